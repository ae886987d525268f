"""A numba type of four doubles side by side, and the machine code that computes with it.

Nothing is reassociated, so each of the four gets the numbers that a loop would give.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

WIDTH = 4
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_ALIGNMENT = 8  # rows start at any double


class VectorType(types.Type):  # type: ignore[misc]
    """The numba type of four doubles side by side."""

    def __init__(self) -> None:
        super().__init__(name=f"Vector({WIDTH})")


vector_type = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _VECTOR)


def _row_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _VECTOR.as_pointer()), [row])


@intrinsic
def load_vector(_: Any, array: Any, row: Any) -> Any:
    """The numbers in one row of an array of shape (rows, WIDTH)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], *arguments)
        return builder.load(pointer, align=_ALIGNMENT)

    return vector_type(array, types.intp), generate


@intrinsic
def store_vector(_: Any, array: Any, row: Any, value: Any) -> Any:
    """Put a value into one row, in place."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=_ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector_type), generate


@intrinsic
def vector_of(_: Any, number: Any) -> Any:
    """The same number in every place."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for place in range(WIDTH):
            vector = builder.insert_element(vector, arguments[0], context.get_constant(types.int32, place))
        return vector

    return vector_type(types.float64), generate


@intrinsic
def vector_root(_: Any, value: Any) -> Any:
    """Square roots."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{WIDTH}f64")
        return builder.call(function, arguments)

    return vector_type(vector_type), generate


def _lower_operator(symbol: Any, instruction: str) -> None:
    """Let ``symbol`` work on two values of the vector type by one LLVM instruction."""

    @type_callable(symbol)
    def type_operator(_: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            both = isinstance(left, VectorType) and isinstance(right, VectorType)
            return vector_type if both else None

        return typer

    @lower_builtin(symbol, VectorType, VectorType)
    def lower(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _lower_operator(_symbol, _instruction)
