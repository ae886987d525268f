"""From what the user chose to the plain numbers that the kernels take."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from temperance.checks import flag, number_between, whole_number
from temperance.core import state as core
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.modes.policy import HEATING, LEARNING
from temperance.moves import Move, moves_with
from temperance.plain import FORMAT_KEY, from_plain, record, to_plain, unstamped
from temperance.runs.keep import DEFAULT, kept_parts
from temperance.runs.ladder import check_betas
from temperance.settings import Settings, settings_from_plain, settings_to_plain
from temperance.swaps import Strategy
from temperance.targets import Target
from temperance.theory import asymptotic_scale, best_acceptance, gaussian_scale

FORMAT = 3  # of a plan as plain values

# A random walk needs some hundred iterations a dimension before its covariance is worth freezing.
MIN_TUNE = 5_000
TUNE_PER_DIM = 600
LONGEST_TUNE = 4  # times that, where modes are learnt slowly

NEVER = -1  # in place of an iteration

# The gain of robust walks is (1 + n / delay)^−exponent: d directions have to be learnt, one a step.
SHAPE_GAIN_DELAY = 2.0  # per dimension
SHAPE_GAIN_EXPONENT = 2.0 / 3.0  # Vihola 2012

# By how much the scale of a settled level with one mode may fall short of a Gaussian's.
SLACK = {"covariance": 0.05}
USUAL_SLACK = 0.2


# The most levels, where nothing is said: they reach the square of the first ladder's highest temperature.
TWICE, FEW_MORE = 2, 4

# Of a plan, and words.
NUMBERS = ("betas", "dim", "draws", "tune", "keep", "thin", "chains", "max_tune", "search")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run of several chains, fully specified but for starts and seeds."""

    target: Target
    settings: Settings
    betas: FloatArray
    dim: int
    draws: int
    tune: int
    keep: tuple[str, ...] = DEFAULT
    thin: int = 1
    chains: int = 1
    search: float = 0.0  # share of the evaluations of the tuning for climbs from scattered points
    max_tune: int = 0  # how long the tuning may become where it needs to; it never is shorter than ``tune``

    @property
    def n_levels(self) -> int:
        """The number of levels at the start."""
        return len(self.betas)

    @property
    def grows(self) -> bool:
        """Whether levels may be put in."""
        return self.settings.growth.enabled and not self.adapts_for_ever and self.n_levels > 1

    @property
    def most_levels(self) -> int:
        """How many levels there may be."""
        if not self.grows:
            return self.n_levels
        most = self.settings.growth.most
        return max(self.n_levels, TWICE * self.n_levels + FEW_MORE if most is None else most)

    @property
    def ends_at_prior(self) -> bool:
        """Whether the last level is the prior, and stays."""
        return bool(self.betas[-1] == 0.0)

    @property
    def strategy(self) -> Strategy:
        """Which pairs of levels are exchanged."""
        return self.settings.swaps

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves that there are in this run, in use or not."""
        return moves_with(self.settings.adaptation.walk)

    @property
    def walk(self) -> Move:
        """The move that levels make when nothing else has its turn."""
        return self.moves[0]

    @property
    def n_swaps(self) -> int:
        """Swaps attempted in an iteration, as long as no level is put in."""
        return self.strategy.attempts(self.n_levels)

    @property
    def shares(self) -> bool:
        """Whether chains learn together."""
        return self.chains > 1 and self.settings.jumps.enabled and self.settings.jumps.share

    @property
    def adapts_for_ever(self) -> bool:
        """Whether the draws adapt too."""
        return self.settings.adaptation.when == "always"


def plan_to_plain(plan: Plan) -> dict[str, Any]:
    """All of a plan but its functions, as values that JSON knows."""
    numbers = {name: to_plain(getattr(plan, name)) for name in NUMBERS}
    return {
        FORMAT_KEY: FORMAT,
        **numbers,
        "has_prior": plan.target.has_prior,
        "settings": settings_to_plain(plan.settings),
    }


def plan_from_plain(
    plain: Any,
    target: Target,
    *,
    swaps: Strategy | None = None,
    walk: Move | None = None,
    name: str = "plan",
) -> Plan:
    """The plan that `plan_to_plain` described, for functions that are given again."""
    keys = (*NUMBERS, "has_prior", "settings")
    given = record(name, unstamped(name, plain, FORMAT), keys)
    if flag(f"{name}.has_prior", given["has_prior"]) != target.has_prior:
        whole, parts = "log_density", "log_likelihood and log_prior"
        wanted, came = (whole, parts) if target.has_prior else (parts, whole)
        raise InvalidInputError(f"{name}: the run was made with {wanted}, got {came}: {target.name}")
    betas = np.array(from_plain(tuple[float, ...], given["betas"], f"{name}.betas"))
    check_betas(f"{name}.betas", betas, betas, target.has_prior)
    return Plan(
        target=target,
        settings=settings_from_plain(given["settings"], swaps=swaps, walk=walk, name=f"{name}.settings"),
        betas=betas,
        dim=whole_number(f"{name}.dim", given["dim"], least=1),
        draws=whole_number(f"{name}.draws", given["draws"], least=0),
        tune=whole_number(f"{name}.tune", given["tune"], least=0),
        keep=kept_parts(f"{name}.keep", given["keep"]),
        thin=whole_number(f"{name}.thin", given["thin"], least=1),
        chains=whole_number(f"{name}.chains", given["chains"], least=1),
        max_tune=whole_number(f"{name}.max_tune", given["max_tune"], least=0),
        search=number_between(f"{name}.search", given["search"], 0.0, 1.0, closed="left"),
    )


def default_tune(dim: int) -> int:
    """Tuning iterations that leave a well-conditioned covariance to freeze."""
    return max(MIN_TUNE, TUNE_PER_DIM * dim)


def next_meeting(plan: Plan, iteration: int) -> int:
    """The next iteration of the tuning after which chains that share meet, or never."""
    meetings = {_meeting(plan, share) for share in LEARNING.meetings}
    coming = [one for one in meetings if iteration < one <= plan.tune]
    return min(coming) if plan.shares and coming else NEVER


def looks(plan: Plan) -> set[int]:
    """Iterations of the tuning after which it is seen whether the ladder suffices; or meetings."""
    if not plan.grows:
        return set()
    all_looks = {_meeting(plan, share) if plan.shares else int(share * plan.tune) for share in HEATING.looks}
    return {look for look in all_looks if (1.0 - HEATING.lately) * look >= HEATING.least_iterations}


def _meeting(plan: Plan, share: float) -> int:
    """The meeting after this share of the tuning."""
    earliest = -(-LEARNING.first_fit_per_dim * plan.dim // plan.chains)
    return max(int(share * plan.tune), earliest)


def initial_log_scale(plan: Plan) -> float:
    """Where the scales start, and where those of robust walks stay."""
    given = plan.settings.adaptation.initial_log_scale
    if given is not None:
        return given
    if plan.settings.adaptation.walk == "covariance":
        return math.log(asymptotic_scale(plan.dim))
    return math.log(gaussian_scale(walk_acceptance(plan), plan.dim))


def kernel_settings(plan: Plan, *, adapting: bool, n_swaps: int | None = None) -> core.Settings:
    """The settings of one phase; ``n_swaps`` in an iteration if levels were put in."""
    adaptation, trimming, bounds = plan.settings.adaptation, plan.settings.trimming, plan.settings.bounds
    cov_gain = adaptation.covariance_gain or adaptation.gain
    gap_gain = adaptation.ladder_gain or adaptation.gain
    return core.Settings(
        adapting=adapting,
        watching=adapting and sends_scouts(plan),
        pinned=plan.ends_at_prior,
        heat_bath=plan.strategy.heat_bath,
        n_swaps=plan.n_swaps if n_swaps is None else n_swaps,
        refuse_bad=plan.settings.bad_density == "reject",
        gain_scale=float(adaptation.gain.scale),
        gain_exponent=float(adaptation.gain.exponent),
        gain_delay=float(adaptation.gain.total_delay(plan.dim)),
        gap_gain_scale=float(gap_gain.scale),
        gap_gain_exponent=float(gap_gain.exponent),
        gap_gain_delay=float(gap_gain.total_delay(plan.dim)),
        cov_gain_scale=float(cov_gain.scale),
        cov_gain_exponent=float(cov_gain.exponent),
        cov_gain_delay=float(cov_gain.total_delay(plan.dim)),
        shape_gain_scale=(SHAPE_GAIN_DELAY * plan.dim) ** SHAPE_GAIN_EXPONENT,
        shape_gain_exponent=SHAPE_GAIN_EXPONENT,
        shape_gain_delay=SHAPE_GAIN_DELAY * plan.dim,
        target_walk_accept=walk_acceptance(plan),
        target_coordinate_accept=best_acceptance(1),
        target_swap_accept=float(adaptation.swap_acceptance),
        equal_edges=plan.grows and plan.ends_at_prior,
        average_after=plan.tune // 2,
        trim_after=trim_after(plan),
        trim_every=trimming.every,
        min_levels=trimming.min_levels,
        trim_threshold=unimodal_scale(plan),
        trim_leniency=float(trimming.leniency),
        trim_needs_all=trimming.rule == "all_hotter",
        min_log_gap=math.log(bounds.temperature_gap[0]),
        max_log_gap=math.log(bounds.temperature_gap[1]),
        min_log_scale=math.log(bounds.scale[0]),
        max_log_scale=math.log(bounds.scale[1]),
        min_variance=float(bounds.variance[0]),
        max_variance=float(bounds.variance[1]),
    )


def sends_scouts(plan: Plan) -> bool:
    """Whether scouts may be sent at all."""
    return plan.settings.jumps.enabled and plan.settings.jumps.scout_share > 0.0


def first_coordinate_every(plan: Plan) -> int:
    """One step in how many moves a single coordinate, until more is known; in one dimension none."""
    given = plan.settings.adaptation.coordinate_every
    if plan.dim == 1:
        return 0
    return LEARNING.first_coordinate_every if given is None else given


def trim_after(plan: Plan) -> int:
    """N₀, or -1 when levels are never dropped, or by their rate and not for being unimodal."""
    trimming = plan.settings.trimming
    if not trimming.enabled or (plan.grows and plan.ends_at_prior):
        return -1
    if trimming.after is not None:
        return trimming.after
    return plan.tune if plan.adapts_for_ever else plan.tune // 2


def unimodal_scale(plan: Plan) -> float:
    """The scale at which a level counts as unimodal: that of a walk on a Gaussian, less some slack.

    It is compared with the scale of a level beside the covariance of its states (`core.unimodal`).
    """
    trimming = plan.settings.trimming
    if trimming.threshold == "asymptotic":
        threshold = asymptotic_scale(plan.dim)
    else:
        threshold = gaussian_scale(walk_acceptance(plan), plan.dim)
    slack = SLACK.get(plan.walk.name, USUAL_SLACK) if trimming.slack is None else trimming.slack
    return (1.0 - slack) * threshold


def walk_acceptance(plan: Plan) -> float:
    """The rate at which walks should be accepted."""
    given = plan.settings.adaptation.walk_acceptance
    return best_acceptance(plan.dim) if given is None else float(given)
