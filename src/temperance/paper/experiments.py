"""The paper's experiments as data: what is run, and how many times. `printed` has what came out in print.

The paper does not print every setting. Where it leaves two readings open, both are here.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from temperance.paper.measure import Span, bridge_measures, ladder_measures, mode_measures
from temperance.paper.study import Study
from temperance.settings import paper_settings
from temperance.zoo import Problem, bridge, twenty_cylinders, twenty_peaks

FloatArray = npt.NDArray[np.float64]

STRATEGIES = ("EE", "AL", "RA")
RWM = "RWM"  # one level: a random walk, no swaps

# Table 4's percentages are multiples of 1/98, whatever the text says of 100 runs.
RUNS_2D, RUNS_8D, RUNS_TABLE_4, RUNS_BRIDGE, RUNS_TRIMMING = 500, 100, 98, 100, 100

# The gain's exponent is not printed. These were picked by comparison with the printed tables, from
# 0.6, 0.65, 0.7, 0.75, 0.8 in the plane and from 0.6, 0.65, 0.7 elsewhere.
EXPONENT_2D, EXPONENT_8D, EXPONENT_BRIDGE = 0.7, 0.7, 0.6

EQUATION_11 = paper_settings().trimming
BRIDGE_CHECKS = 1_000  # the caption of Figure 5


def _arms(levels: Sequence[int], strategies: Sequence[str] = STRATEGIES) -> tuple[tuple[str, int], ...]:
    return tuple((strategy, n_levels) for n_levels in levels for strategy in strategies)


def _origin(problem: Problem) -> FloatArray:
    return np.zeros(problem.dim)


def _no_effects(problem: Problem) -> FloatArray:
    """Coefficients of zero, and the log variance of the response."""
    data = problem.data
    return np.append(np.zeros(problem.dim - 1), np.log(data.constants[1] / data.constants[0]))


# Twenty peaks in the plane: Tables 1, 2 and 3.

AFTER_5000 = Span(name="5000", first=2_500, end=7_500)
AFTER_7500 = Span(name="7500", first=2_500, end=10_000)
WITH_BURN_IN = Span(name="all", first=0, end=7_500)
READINGS_2D = {
    "5,000 iterations after burn-in": AFTER_5000,
    "7,500 iterations after burn-in": AFTER_7500,
    "7,500 iterations, the 2,500 of burn-in among them": WITH_BURN_IN,
}

PEAKS = Study(
    name="peaks",
    problem=twenty_peaks,
    arms=(("EE", 2), *_arms((3, 4, 5))),
    burn_in=2_500,
    draws=7_500,
    exponent=EXPONENT_2D,
    runs=RUNS_2D,
    measure=mode_measures((AFTER_5000, AFTER_7500, WITH_BURN_IN)),
    start="random points of the square",
)

# Twenty cylinders in eight dimensions: Tables 4, 5 and 6, Figure 4.

AFTER_10000 = Span(name="10000", first=5_000, end=15_000)
ALL_15000 = Span(name="all", first=0, end=15_000)

CYLINDERS = Study(
    name="cylinders",
    problem=twenty_cylinders,
    arms=_arms(range(3, 10)),
    burn_in=5_000,
    draws=10_000,
    exponent=EXPONENT_8D,
    runs=RUNS_8D,
    measure=mode_measures((AFTER_10000, ALL_15000)),
    start="the origin",
    initial=_origin,
)
SCATTERED_CYLINDERS = replace(
    CYLINDERS,
    name="cylinders-scattered",
    arms=_arms((3, 9)),
    start="random points of the square, times normals",
    initial=None,
)
UNIFORM_CYLINDERS = replace(
    CYLINDERS,
    name="cylinders-uniform",
    problem=partial(twenty_cylinders, extra="uniform"),
    start="random points of the cube",
    initial=None,
)
READINGS_8D = {
    "six standard normals, from the origin": CYLINDERS,
    "six uniforms on [0, 10], as the text says, from random points": UNIFORM_CYLINDERS,
}

# Bayesian bridge regression on the diabetes data: Table 7, Figures 5 and 6.

BRIDGE = Study(
    name="bridge",
    problem=bridge,
    arms=((RWM, 1), *_arms((9,))),
    burn_in=20_000,
    draws=100_000,
    exponent=EXPONENT_BRIDGE,
    runs=RUNS_BRIDGE,
    measure=bridge_measures,
    start="least squares",
)
BRIDGE_FROM_ZERO = replace(
    BRIDGE, name="bridge-from-zero", arms=((RWM, 1),), start="no effects", initial=_no_effects
)
INVARIANT_BRIDGE = replace(BRIDGE, name="bridge-invariant", problem=partial(bridge, variance_power=1.0))
INVARIANT_BRIDGE_FROM_ZERO = replace(
    BRIDGE_FROM_ZERO, name="bridge-invariant-from-zero", problem=INVARIANT_BRIDGE.problem
)
READINGS_BRIDGE = {
    "prior 1/s² on the variance s, as the text says": (BRIDGE, BRIDGE_FROM_ZERO),
    "prior 1/s on the variance s": (INVARIANT_BRIDGE, INVARIANT_BRIDGE_FROM_ZERO),
}

# How many levels are left: the study in the text, and Figure 6.

TRIMMED_PEAKS = replace(
    PEAKS,
    name="trimming-peaks",
    arms=_arms((4, 5), ("EE",)),
    draws=5_000,
    runs=RUNS_TRIMMING,
    trimming=EQUATION_11,
    measure=ladder_measures,
)


def _trimmed_cylinders(exponent: float, burn_in: int) -> Study:
    """15,000 iterations, of which the first are burn-in and leave the ladder alone."""
    return replace(
        CYLINDERS,
        name=f"trimming-cylinders-{exponent:g}-{burn_in}",
        arms=_arms((9,), ("EE",)),
        burn_in=burn_in,
        draws=15_000 - burn_in,
        exponent=exponent,
        trimming=EQUATION_11,
        measure=ladder_measures,
    )


# By the gain's exponent, which is not printed, and the burn-in.
TRIMMED_CYLINDERS = {
    (exponent, burn_in): _trimmed_cylinders(exponent, burn_in)
    for exponent in (0.65, 0.7)
    for burn_in in (5_000, 7_500)
}


def _trimmed_bridge(exponent: float, leniency: float) -> Study:
    return replace(
        BRIDGE,
        name=f"trimming-bridge-{exponent:g}-{leniency:g}",
        arms=_arms((9,)),
        exponent=exponent,
        trimming=replace(EQUATION_11, every=BRIDGE_CHECKS, leniency=leniency),
        measure=ladder_measures,
    )


# By the gain's exponent and the ε of the Remark; 0 is Eq. (11). Neither is printed for Figure 6.
TRIMMED_BRIDGE = {
    (exponent, leniency): _trimmed_bridge(exponent, leniency)
    for exponent in (0.6, 0.7)
    for leniency in (0.0, 0.02, 0.05, 0.1)
}

STUDIES = {
    study.name: study
    for study in (
        PEAKS,
        CYLINDERS,
        SCATTERED_CYLINDERS,
        UNIFORM_CYLINDERS,
        BRIDGE,
        BRIDGE_FROM_ZERO,
        INVARIANT_BRIDGE,
        INVARIANT_BRIDGE_FROM_ZERO,
        TRIMMED_PEAKS,
        *TRIMMED_CYLINDERS.values(),
        *TRIMMED_BRIDGE.values(),
    )
}
