"""What compiled code finds by an address: memory, and Python functions."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
    """An integer address as a pointer."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), generate


@intrinsic
def call_python(typing_context: Any, address: Any) -> Any:
    """Call the Python object at ``address`` with no arguments, none boxed, and drop what it returns.

    The object must not raise: it keeps its own errors.
    """

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        python = context.get_python_api(builder)
        lock = python.gil_ensure()
        function = builder.inttoptr(arguments[0], cgutils.voidptr_t)
        outcome = python.call_function_objargs(function, ())
        failed = cgutils.is_null(builder, outcome)
        with builder.if_else(failed) as (then, otherwise):
            with then:
                python.err_clear()
            with otherwise:
                python.decref(outcome)
        python.gil_release(lock)
        return context.get_dummy_value()

    return types.void(types.intp), generate
