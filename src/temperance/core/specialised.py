"""Functions that are another one for each type of record: what goes over the fields or the moves of a run.

The loop names such a function once. Which one that is follows from the type of the state that it works
on, so that a run with a move of its own gets a loop of its own, and all others share one.
"""

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload

from temperance.core.compile import KERNEL_OPTIONS
from temperance.core.numba_internals.functions import ALWAYS_INLINE, NO_WAY_IN, is_off


def specialised(build: Callable[[type], Any]) -> Callable[[Callable[..., Any]], Any]:
    """A function of a state, or of a chain that begins with one, and two numbers.

    ``build`` makes it, as a function of (record, a, b), from the type of the state. Of the decorated function
    only the name is used.
    """
    made = functools.cache(build)

    def decorate(named: Callable[..., Any]) -> Any:
        @functools.wraps(named)
        def choose(record: Any, a: Any, b: Any) -> Any:
            kind: Any = type(record[0] if isinstance(record[0], tuple) else record)
            return made(kind)(record, a, b)

        if not is_off():
            options = {**KERNEL_OPTIONS, **NO_WAY_IN, **ALWAYS_INLINE}
            overload(choose, jit_options=options, strict=False)(
                lambda record, a, b: made(  # noqa: ARG005  numba compares the names
                    getattr(record.types[0], "instance_class", record.instance_class)
                )
            )
        return choose

    return decorate
