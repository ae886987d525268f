"""When to warn and what to propose: the numbers of all rules, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What a run may show before a rule fires."""

    # Whether the chains agree, and what their draws are worth.
    max_r_hat: float = 1.01  # Vehtari et al. 2021
    serious_r_hat: float = 1.05  # chains differ by a third of a standard deviation
    min_ess: float = 100.0  # a chain; Vehtari et al. 2021
    serious_ess: float = 50.0  # a chain; with fewer, what is said of errors is itself uncertain
    max_disagreement: float = 0.2  # of the mass of the modes, between two chains
    beyond_chance: float = 1.5  # times what chance alone has two chains differ by, where modes are many
    late_find: float = 0.5  # of the tuning, in which a mode that is easily found is found by every chain
    missed_share: float = 0.02  # of the draws of a chain; a mode that holds less may be passed over by chance
    false_alarm: float = 0.01  # that chance alone has any chain pass over any lighter mode

    # Whether draws move.
    min_values: int = 10  # different ones in a chain, which is worth no more independent draws than that
    max_stay: float = 0.1  # of the draws of a chain at one point
    min_value_rate: float = 0.05  # of the draws of a short chain; a walk is accepted several times as often

    # Jumps.
    min_jump_rate: float = 0.01  # accepted jumps a draw; a ladder rarely brings as much
    max_far: float = 0.05  # of the draws of a chain far from all modes; of a normal mode one in a thousand is

    # The ladder.
    min_edge_draws: int = 100  # before an edge can be called dead
    min_crossing_rate: float = 1e-3  # per draw; a healthy edge has a tenth
    multimodal_below: float = 0.8  # of the scale at which a level passes for unimodal; it wavers by a tenth
    rising: float = 1.05  # a factor of the scale from one level to the next: heat is still opening barriers
    at_bound: float = 0.99  # of the largest temperature gap; what adapts there touches the bound now and then
    max_drift: float = 0.5  # in the log of a scale or a temperature, between the last quarters of tuning

    # The log density.
    max_rounding: float = 0.1  # in a log density: acceptance is then off by a tenth
    constant: float = 1e-9  # of its size that it varies by; a huge constant leaves its draws even less
    far_above: float = 5.0  # beyond all that is explained: by more than a factor of a hundred
    variances: float = 3.0  # of it that its peak may lie above its mean; of a Gaussian it is one
    tail: float = 0.999  # of the draws; a few that came near a lost mode say nothing about the others


@dataclass(frozen=True, kw_only=True)
class Cures:
    """What is proposed where a number has to be named."""

    longer_tuning: int = 2  # times as much: enough to see whether it helps
    more_draws: float = 4.0  # times as many halve the error
    spare: float = 1.1  # over the draws that a goal needs, so that it is reached
    usual_draws: int = 5_000  # where there were none, or too few to judge by
    round_trip_draws: int = 10  # times as many where no position came back: how many it takes is not known
    visits: int = 100  # of each mode, where they are many: its weight is then known to a tenth
    first_ladder: int = 5  # levels to try when there was one
    max_growth: int = 2  # times as many levels at most: what lies beyond has not been seen
    wider_bounds: float = 10.0  # times as far on either side
    usual_chains: int = 4  # of which two may agree by chance


THRESHOLDS, CURES = Thresholds(), Cures()
