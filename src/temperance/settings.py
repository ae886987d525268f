"""What a user may set, validated where it is built."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from temperance.checks import (
    flag,
    instance_of,
    number_between,
    one_of,
    ordered_bounds,
    whole_number,
)
from temperance.errors import InvalidInputError
from temperance.moves import WALKS, Move, require_walk
from temperance.plain import FORMAT_KEY, from_plain, to_plain, unstamped
from temperance.swaps import Strategy, equi_energy, even_odd
from temperance.swaps.recipe import strategy_from_plain, strategy_to_plain

OPTIMAL_ACCEPTANCE = (
    0.234  # Roberts, Gelman & Gilks 1997, for walks in many dimensions; Atchadé 2011, for swaps
)
# The paper prints none. Of those tried, 0.6 comes closest to its bridge regression; its first two examples
# want 0.7 (docs/reproduction.md).
PAPER_GAIN_EXPONENT = 0.6
INF = float("inf")
FORMAT = 3  # of settings as plain values


@dataclass(frozen=True, kw_only=True)
class Gain:
    """The gain of a stochastic approximation: γ[n] = scale · (n + 1 + delay + delay_per_dim · d)^−exponent.

    It is kept below one.

    Attributes:
        exponent: How fast it falls, above 1/2 and at most 1.
        scale: What it is multiplied by.
        delay: The weight of the starting value, in iterations.
        delay_per_dim: The same for each dimension d.
    """

    exponent: float = PAPER_GAIN_EXPONENT
    scale: float = 1.0
    delay: float = 0.0
    delay_per_dim: float = 0.0

    def __post_init__(self) -> None:
        number_between("exponent", self.exponent, 0.5, 1.0, closed="right")
        number_between("scale", self.scale, 0.0, INF)
        number_between("delay", self.delay, 0.0, INF, closed="left")
        number_between("delay_per_dim", self.delay_per_dim, 0.0, INF, closed="left")

    def total_delay(self, dim: int) -> float:
        """The delay in ``dim`` dimensions."""
        return self.delay + self.delay_per_dim * dim


def _ladder_gain() -> Gain:
    """Levels that start at one point exchange always; without a delay the ladder is gone before they part."""
    return Gain(delay=200.0)


def _covariance_gain() -> Gain:
    return Gain(exponent=1.0, scale=2.0, delay_per_dim=20.0)


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """How random walks and temperatures learn.

    Attributes:
        walk: ``"robust"`` (robust adaptive Metropolis: it learns the shape of the mode that it is in),
            ``"covariance"`` (the paper's: it learns the covariance of the level, across all its modes, and a
            scale), ``"slice"`` (slice sampling along one line at a time, some five evaluations a move), or a
            `temperance.moves.Move` of your own.
        coordinate_every: One step in so many is componentwise: it moves a single coordinate, which learns a
            scale of its own. None learns how often that pays, by expected squared jump distance; 0 means
            never.
        when: ``"tuning"`` (everything is frozen for the draws, which makes the kernel exact) or ``"always"``
            (the paper's everlasting, diminishing adaptation).
        gain: Of the scales, and of all that has no gain of its own.
        covariance_gain: Of means and covariances; None uses ``gain``, as the paper does.
        ladder_gain: Of the log gaps between temperatures; None uses ``gain``.
        walk_acceptance: The target acceptance rate of random walks. None is what is best for a Gaussian in
            the dimension at hand: 0.44 in one, 0.35 in two, soon near 0.234.
        swap_acceptance: The target acceptance rate of swaps between adjacent levels.
        initial_log_scale: Log of the scale that walks start with; None is what suits a Gaussian.
        tempered_start: Whether the covariance of each level starts at its temperature times the identity, as
            it would be for a Gaussian, instead of the identity; it does not concern targets with a prior.
        average: Whether averages of the scales and log gaps over the second half of tuning are frozen,
            instead of the last values.
    """

    walk: Literal["robust", "covariance", "slice"] | Move = "robust"
    coordinate_every: int | None = None
    when: Literal["tuning", "always"] = "tuning"
    gain: Gain = field(default_factory=Gain)
    covariance_gain: Gain | None = field(default_factory=_covariance_gain)
    ladder_gain: Gain | None = field(default_factory=_ladder_gain)
    walk_acceptance: float | None = None
    swap_acceptance: float = OPTIMAL_ACCEPTANCE
    initial_log_scale: float | None = None
    tempered_start: bool = True
    average: bool = True

    def __post_init__(self) -> None:
        require_walk(self.walk)
        if self.coordinate_every is not None:
            whole_number("coordinate_every", self.coordinate_every, least=0)
        one_of("when", self.when, ("tuning", "always"))
        instance_of("gain", self.gain, Gain, "a temperance.Gain")
        if self.covariance_gain is not None:
            instance_of("covariance_gain", self.covariance_gain, Gain, "a temperance.Gain or None")
        if self.ladder_gain is not None:
            instance_of("ladder_gain", self.ladder_gain, Gain, "a temperance.Gain or None")
        if self.walk_acceptance is not None:
            number_between("walk_acceptance", self.walk_acceptance, 0.0, 1.0)
        number_between("swap_acceptance", self.swap_acceptance, 0.0, 1.0)
        if self.initial_log_scale is not None:
            number_between("initial_log_scale", self.initial_log_scale, -INF, INF)
        flag("average", self.average)
        flag("tempered_start", self.tempered_start)


@dataclass(frozen=True, kw_only=True)
class Trimming:
    """When levels are dropped: those hotter than the first that counts as unimodal.

    A level counts as unimodal when its scale e^θ reaches a threshold.

    Attributes:
        enabled: Whether levels are dropped at all.
        after: The iteration N₀ after which they may be; None means half the tuning, or all of it under
            everlasting adaptation.
        every: Iterations from one check to the next.
        min_levels: How many levels stay at least.
        rule: ``"first"`` (the first unimodal level becomes the last, Eq. 11) or ``"all_hotter"`` (the first
            from which on all are unimodal, so that a cold level stuck in one mode does not end the ladder).
        threshold: ``"asymptotic"`` (2.38/√d, Eq. 11) or ``"exact"`` (the scale at which a Gaussian in d
            dimensions is accepted at the target acceptance rate, which is larger when d is small).
        slack: A fraction by which the threshold is lowered, since a settled scale wavers around it; None is
            0.05, and 0.2 for robust walks, whose shape wavers more.
        leniency: The ε of the paper's Remark: scales within this fraction of the largest count too. Zero is
            the strict rule.
    """

    enabled: bool = True
    after: int | None = None
    every: int = 100
    min_levels: int = 2
    rule: Literal["all_hotter", "first"] = "all_hotter"
    threshold: Literal["exact", "asymptotic"] = "exact"
    slack: float | None = None
    leniency: float = 0.0

    def __post_init__(self) -> None:
        flag("enabled", self.enabled)
        if self.after is not None:
            whole_number("after", self.after, least=0)
        whole_number("every", self.every, least=1)
        whole_number("min_levels", self.min_levels, least=1)
        one_of("rule", self.rule, ("all_hotter", "first"))
        one_of("threshold", self.threshold, ("exact", "asymptotic"))
        if self.slack is not None:
            number_between("slack", self.slack, 0.0, 1.0, closed="left")
        number_between("leniency", self.leniency, 0.0, 1.0, closed="left")


@dataclass(frozen=True, kw_only=True)
class Growth:
    """When levels are added: while tuning, where the ladder that it began with does not suffice.

    Above, where the hottest level still has several modes and jumps do not carry from one to the other; and
    between two levels that hardly ever exchange. With a prior part the ladder ends at β = 0, all of its edges
    exchange alike, and there are as many levels as the target acceptance rate of swaps asks for.

    Attributes:
        enabled: Whether the ladder may grow.
        most: How many levels there may be; None is twice as many as at first, and four more.
    """

    enabled: bool = True
    most: int | None = None

    def __post_init__(self) -> None:
        flag("enabled", self.enabled)
        if self.most is not None:
            whole_number("most", self.most, least=1)


@dataclass(frozen=True, kw_only=True)
class Jumps:
    """Independence Metropolis-Hastings proposals of the base level, from a mixture of the modes learnt.

    They are learnt while tuning and frozen for the draws.

    Attributes:
        enabled: Whether modes are learnt and jumps made.
        scout_share: The largest share of the evaluations of tuning that scouts may add, beyond the first two
            (in more than thirty dimensions, beyond those that leave from starts):
            short walks at temperature one from where warm levels are. Zero sends none.
        refresh: Whether the hottest level, when it has one mode, draws half of its proposals from that
            mode's own component while drawing.
        share: Whether chains learn together: now and then while tuning, what all of them have seen makes one
            mixture for all.
        rounds: Whether the mixture is improved at the end of tuning by rounds of proposals: draws from it,
            evaluated and weighted, which add up to at most a quarter of the evaluations of tuning.
    """

    enabled: bool = True
    scout_share: float = 0.2
    refresh: bool = True
    share: bool = True
    rounds: bool = False

    def __post_init__(self) -> None:
        flag("enabled", self.enabled)
        number_between("scout_share", self.scout_share, 0.0, 1.0, closed="left")
        flag("refresh", self.refresh)
        flag("share", self.share)
        flag("rounds", self.rounds)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The compact sets within which adaptation stays, wide enough never to matter in a healthy run.

    The theory asks for them. Free are the means and the unit lower factor L of a covariance L D Lᵀ.

    Attributes:
        temperature_gap: Least and largest gap between two temperatures.
        scale: Of a step in all coordinates, and of a componentwise step.
        variance: Of each entry of D, where a covariance is L D Lᵀ.
    """

    temperature_gap: tuple[float, float] = (1e-4, 1e9)
    scale: tuple[float, float] = (1e-12, 1e12)
    variance: tuple[float, float] = (1e-100, 1e100)

    def __post_init__(self) -> None:
        for name in ("temperature_gap", "scale", "variance"):
            object.__setattr__(self, name, ordered_bounds(name, getattr(self, name)))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that is not about one run: adaptation, the ladder, jumps, bounds, swaps, and what a NaN does.

    Attributes:
        adaptation: How random walks and temperatures learn, a `temperance.Adaptation`.
        trimming: When levels are dropped, a `temperance.Trimming`.
        growth: When levels are added, a `temperance.Growth`.
        jumps: Proposals from mode to mode, a `temperance.Jumps`.
        bounds: The compact sets of adaptation, a `temperance.Bounds`.
        swaps: Which pairs of levels swap, one of `temperance.swaps`.
        bad_density: What a NaN or +inf log density does: ``"raise"`` stops with an error, ``"reject"``
            rejects the proposal and counts it, or draws another start.
    """

    adaptation: Adaptation = field(default_factory=Adaptation)
    trimming: Trimming = field(default_factory=Trimming)
    growth: Growth = field(default_factory=Growth)
    jumps: Jumps = field(default_factory=Jumps)
    bounds: Bounds = field(default_factory=Bounds)
    swaps: Strategy = field(default_factory=even_odd)
    bad_density: Literal["raise", "reject"] = "raise"

    def __post_init__(self) -> None:
        instance_of("adaptation", self.adaptation, Adaptation, "a temperance.Adaptation")
        instance_of("trimming", self.trimming, Trimming, "a temperance.Trimming")
        instance_of("growth", self.growth, Growth, "a temperance.Growth")
        instance_of("jumps", self.jumps, Jumps, "a temperance.Jumps")
        instance_of("bounds", self.bounds, Bounds, "a temperance.Bounds")
        instance_of(
            "swaps",
            self.swaps,
            Strategy,
            "a strategy such as temperance.swaps.equi_energy() or .custom(weight)",
        )
        one_of("bad_density", self.bad_density, ("raise", "reject"))
        wanted = self.adaptation.walk_acceptance
        if self.trimming.threshold == "asymptotic" and wanted != OPTIMAL_ACCEPTANCE:
            raise InvalidInputError(
                f"threshold='asymptotic' is right for walk_acceptance={OPTIMAL_ACCEPTANCE} only, got "
                f"{wanted}; give Adaptation(walk_acceptance={OPTIMAL_ACCEPTANCE}) or use "
                "Trimming(threshold='exact')"
            )


def settings_to_plain(settings: Settings) -> dict[str, Any]:
    """All settings as values that JSON knows; see `temperance.swaps.recipe` for the strategy.

    A move of the user's own goes by its name.
    """
    chosen = {field.name: getattr(settings, field.name) for field in fields(settings)}
    strategy, adaptation = strategy_to_plain(chosen.pop("swaps")), chosen["adaptation"]
    walk = adaptation.walk.name if isinstance(adaptation.walk, Move) else adaptation.walk
    chosen["adaptation"] = {**vars(adaptation), "walk": walk}
    return {FORMAT_KEY: FORMAT, **to_plain(chosen), "swaps": strategy}


def settings_from_plain(
    plain: Any, *, swaps: Strategy | None = None, walk: Move | None = None, name: str = "settings"
) -> Settings:
    """The settings that `settings_to_plain` described.

    ``swaps`` and ``walk`` give a strategy and a move of the user's own again.
    """
    given = unstamped(name, plain, FORMAT)
    if "swaps" in given:
        given["swaps"] = strategy_from_plain(given["swaps"], swaps, f"{name}.swaps")
    adaptation = given.get("adaptation")
    own = walk_from_plain(adaptation, walk, f"{name}.adaptation.walk")
    if own is not None:
        given["adaptation"] = {**dict(adaptation or {}), "walk": Adaptation.walk}  # until the rest is read
    settings: Settings = from_plain(Settings, given, name)
    return settings if own is None else replace(settings, adaptation=replace(settings.adaptation, walk=own))


def walk_from_plain(adaptation: Any, given: Move | None, name: str) -> Move | None:
    """The user's own move, given again and of the same name; None where the walk is one of ours."""
    stored = adaptation.get("walk") if isinstance(adaptation, dict) else None
    if not isinstance(stored, str) or stored in WALKS:
        if given is not None:
            raise InvalidInputError(f"walk must be left out, as {name} is {stored!r}; got {given.name!r}")
        return None
    if given is None:
        cure = "a move of yours, which is not stored; give walk= again"
        raise InvalidInputError(f"{name} is {stored!r}, {cure}")
    instance_of("walk", given, Move, f"the temperance.moves.Move named {stored!r}")
    if given.name != stored:
        raise InvalidInputError(f"walk must be the move {stored!r}, got {given.name!r}")
    return given


def paper_settings(*, exponent: float = PAPER_GAIN_EXPONENT, trim: bool = True) -> Settings:
    """Algorithm 1 as printed: one gain for everything, adaptation that never ends, EE swaps, Eq. (11)."""
    adaptation = Adaptation(
        walk="covariance",
        coordinate_every=0,
        when="always",
        gain=Gain(exponent=exponent),
        covariance_gain=None,
        ladder_gain=None,
        walk_acceptance=OPTIMAL_ACCEPTANCE,
        swap_acceptance=OPTIMAL_ACCEPTANCE,
        initial_log_scale=0.0,
        tempered_start=False,
        average=False,
    )
    trimming = Trimming(enabled=trim, every=1, min_levels=1, rule="first", threshold="asymptotic", slack=0.0)
    growth, jumps = Growth(enabled=False), Jumps(enabled=False)
    return Settings(adaptation=adaptation, trimming=trimming, growth=growth, jumps=jumps, swaps=equi_energy())
