"""When a cause is told, and how far its cure goes: the numbers, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run must show for a cause to be named, and what is proposed at most."""

    # The density.
    walls_acceptance: float = 0.5  # of the target rate: a walk that meets walls cannot be tuned to it
    tied: float = 1e3  # condition number of the correlations: two of them at 0.998, or a curve

    narrowing: float = 0.5  # correlation of one coordinate with the log width of another; chance has a tenth
    values_per_dim: int = 10  # different draws of a mode, before its shape is told

    # The draws.
    trend: float = 2.0  # standard deviations of the log density from the first quarter of draws to the last
    most_draws: int = 20  # times as many: a size that needs more does not suffer from too few draws
    few_visits: int = 10  # of a mode, in a chain; fewer tell nothing about its weight
    hundreds: int = 50  # modes: of 5,000 draws, 100 to each

    # The tuning.
    usual_tune: int = 5_000  # what a run without tune= has at least ...
    tune_per_dim: int = 600  # ... and for each dimension
    longest_tune: int = 16  # times that: what was not learnt by then is not learnt by more of the same

    # The ladder.
    most_levels: int = 30  # a hundred dimensions take 17
    healthy_edge: float = 10.0  # times the rate of a dead edge, before fewer levels are proposed


LIMITS = Limits()
