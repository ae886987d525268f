"""The zoo's problems by name, with their default arguments."""

from collections.abc import Callable

from temperance.checks import one_of
from temperance.zoo.curved import banana, funnel
from temperance.zoo.cylinders import twenty_cylinders
from temperance.zoo.gaussians import gaussian, two_modes
from temperance.zoo.labels import label_switching
from temperance.zoo.peaks import twenty_peaks
from temperance.zoo.problem import Problem
from temperance.zoo.regression import bridge

_FACTORIES: dict[str, Callable[[], Problem]] = {
    "banana": banana,
    "bridge": bridge,
    "funnel": funnel,
    "gaussian": gaussian,
    "label_switching": label_switching,
    "twenty_cylinders": twenty_cylinders,
    "twenty_peaks": twenty_peaks,
    "two_modes": two_modes,
}


def names() -> list[str]:
    """What `get` knows, sorted."""
    return sorted(_FACTORIES)


def get(name: str) -> Problem:
    """The problem of this name, with default arguments."""
    return _FACTORIES[one_of("name", name, names())]()
