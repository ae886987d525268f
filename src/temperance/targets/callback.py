"""The evaluation of targets that live in Python."""

import functools
from collections.abc import Callable

from temperance.core.compile import compiled_pointer_for, kernel_digest
from temperance.core.numba_internals.addresses import call_python
from temperance.core.state import EVALUATE_SIGNATURE, FloatArray, IntArray


@functools.cache
def python_evaluate() -> Callable[..., None]:
    """The evaluation of every target that lives in Python, compiled once."""
    digest = kernel_digest()

    @compiled_pointer_for(EVALUATE_SIGNATURE)
    def evaluate(
        context: int,
        proposal: FloatArray,
        n_levels: int,
        log_density: FloatArray,
        log_prior: FloatArray,
        scratch: FloatArray,
        control: IntArray,
    ) -> None:
        digest  # noqa: B018  part of the cache key
        call_python(context)

    return evaluate
