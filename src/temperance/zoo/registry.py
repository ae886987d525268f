"""The zoo's problems by name, with their default arguments."""

from collections.abc import Callable

from temperance.checks import one_of
from temperance.zoo.bananas import two_bananas
from temperance.zoo.curved import banana, funnel
from temperance.zoo.cylinders import twenty_cylinders
from temperance.zoo.gaussians import gaussian, two_modes
from temperance.zoo.hidden import distant_modes, flat_box, spike
from temperance.zoo.high import far_pair, many_well
from temperance.zoo.labels import label_switching
from temperance.zoo.oriented import oriented_modes
from temperance.zoo.peaks import twenty_peaks
from temperance.zoo.problem import Problem
from temperance.zoo.regression import bridge
from temperance.zoo.rings import rings
from temperance.zoo.scattered import many_modes
from temperance.zoo.shells import gaussian_shells
from temperance.zoo.skewed import skew_modes
from temperance.zoo.students import student_modes
from temperance.zoo.uneven import rare_mode, unequal_widths

_FACTORIES: dict[str, Callable[[], Problem]] = {
    "banana": banana,
    "bridge": bridge,
    "distant_modes": distant_modes,
    "flat_box": flat_box,
    "far_pair": far_pair,
    "funnel": funnel,
    "gaussian": gaussian,
    "gaussian_shells": gaussian_shells,
    "label_switching": label_switching,
    "many_modes": many_modes,
    "many_well": many_well,
    "oriented_modes": oriented_modes,
    "rare_mode": rare_mode,
    "rings": rings,
    "skew_modes": skew_modes,
    "spike": spike,
    "student_modes": student_modes,
    "twenty_cylinders": twenty_cylinders,
    "twenty_peaks": twenty_peaks,
    "two_bananas": two_bananas,
    "two_modes": two_modes,
    "unequal_widths": unequal_widths,
}


def names() -> list[str]:
    """What `get` knows, sorted."""
    return sorted(_FACTORIES)


def key_of(problem: Problem) -> str | None:
    """The name by which `get` gives a problem that is called the same."""
    return next((key for key in names() if get(key).name == problem.name), None)


def get(name: str) -> Problem:
    """The problem of this name, with default arguments."""
    return _FACTORIES[one_of("name", name, names())]()
