"""Whether a likelihood looks at all of its parameters: one that it forgets is most likely a mistake."""

from typing import Any

import numpy as np
from numba.extending import is_jitted

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.models.layout import Layout
from temperance.models.likelihood import shaped
from temperance.origin import function_name
from temperance.targets import read_only
from temperance.targets.functions import takes_data

TRIES = 20  # that a parameter gets to make a difference
MOST_ASKED = 200  # parameters: with more of them the question costs more than it is worth
SEED = 0  # a stream of its own: the run does not notice


def require_all_used(layout: Layout, function: Any, data: Any, *, vector: bool, rows: bool) -> None:
    """Raise an error that names a parameter whose value never makes a difference where others' do.

    Points are drawn from the prior and one parameter at a time is drawn anew. A likelihood that looks at no
    parameter at all is taken at its word: the posterior is then the prior.
    """
    if layout.undrawable or not 2 <= len(layout.priors) <= MOST_ASKED:
        return
    try:
        forgotten = _forgotten(layout, _on_values(layout, function, data, vector, rows))
    except Exception:  # noqa: BLE001  the run will meet it, and say where
        return
    if forgotten and len(forgotten) < len(layout.priors):
        raise InvalidInputError(
            f"{function_name(function)} does not look at the parameter {forgotten[0]!r}: its value made no "
            f"difference in {TRIES} tries; use it, or leave it out of parameters"
        )


def _forgotten(layout: Layout, density: Any) -> list[str]:
    generator = np.random.default_rng(SEED)
    suspects, decided = dict.fromkeys(layout.priors, 0), 0
    for _ in range(TRIES):
        if not suspects:
            return []
        here = layout.draw(generator)
        value = density(here)
        for name in list(suspects):
            other = density(_redrawn(layout, here, name, generator))
            if other != value:
                del suspects[name]
            elif np.isfinite(value):
                suspects[name] += 1
        decided += bool(np.isfinite(value))
    return [name for name, seen in suspects.items() if seen and seen == decided]


def _redrawn(layout: Layout, point: FloatArray, name: str, generator: np.random.Generator) -> FloatArray:
    changed, fresh = layout.coordinates.split(point.copy()), layout.coordinates.split(layout.draw(generator))
    place = list(layout.priors).index(name)
    key = list(changed)[place]
    changed[key] = fresh[key]
    return np.concatenate([np.ravel(part) for part in changed.values()])


def _on_values(layout: Layout, function: Any, data: Any, vector: bool, rows: bool) -> Any:
    shape = shaped(layout, vector=vector)
    shown = data if is_jitted(function) else read_only(data)

    def density(point: FloatArray) -> float:
        values = layout.values(point[None])
        arguments = (shape(values if rows else values[0]), shown)
        value = function(*arguments) if takes_data(function) else function(arguments[0])
        return float(np.ravel(value)[0])

    return density
