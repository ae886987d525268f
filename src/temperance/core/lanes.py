"""Four levels at once: a vector type for kernels whose arrays end in an axis of ``LANES``.

A value of this type holds one number for each of four levels. It is loaded from a row of an array,
computed with by ``+ - * /`` and ``root``, and stored again; nothing is reassociated, so each lane gets the
numbers that a loop over levels would give. With the compiler off the same functions work on NumPy rows.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, overload, register_model, type_callable

LANES = 4
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNMENT = 8  # rows start at any double


class LanesType(types.Type):  # type: ignore[misc]
    """The numba type of four doubles side by side."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


lanes_type = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _VECTOR)


def load(array: Any, row: int) -> Any:
    """The numbers in one row of an array of shape (rows, LANES)."""
    return array[row].copy()


def store(array: Any, row: int, value: Any) -> None:
    """Put a value into one row, in place."""
    array[row] = value


def spread(number: float) -> Any:
    """The same number in every lane."""
    return np.full(LANES, number)


def root(value: Any) -> Any:
    """Square roots."""
    return np.sqrt(value)


def _row_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _VECTOR.as_pointer()), [row])


@intrinsic
def _load(_: Any, array: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], *arguments)
        return builder.load(pointer, align=_ALIGNMENT)

    return lanes_type(array, types.intp), generate


@intrinsic
def _store(_: Any, array: Any, row: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=_ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes_type), generate


@intrinsic
def _spread(_: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            vector = builder.insert_element(vector, arguments[0], context.get_constant(types.int32, lane))
        return vector

    return lanes_type(types.float64), generate


@intrinsic
def _root(_: Any, value: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f64")
        return builder.call(function, arguments)

    return lanes_type(lanes_type), generate


# What the plain functions above are when a kernel calls them.
overload(load)(lambda array, row: lambda array, row: _load(array, row))
overload(store)(lambda array, row, value: lambda array, row, value: _store(array, row, value))
overload(spread)(lambda number: lambda number: _spread(number))
overload(root)(lambda value: lambda value: _root(value))


def _lower_operator(symbol: Any, instruction: str) -> None:
    """Let ``symbol`` work on two values of the vector type by one LLVM instruction."""

    @type_callable(symbol)
    def type_operator(_: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            both = isinstance(left, LanesType) and isinstance(right, LanesType)
            return lanes_type if both else None

        return typer

    @lower_builtin(symbol, LanesType, LanesType)
    def lower(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _lower_operator(_symbol, _instruction)
