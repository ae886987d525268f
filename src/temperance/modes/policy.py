"""When and how far modes are learnt: the numbers that nobody sets, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a chain does about modes while it tunes. Shares are of the tuning where nothing else is said."""

    first_fit: float = 0.03  # before that there is hardly a state to learn from
    fit_growth: float = 1.35  # the next fit comes when there are so many times as many states
    early_fits: float = 0.2  # in which even a mixture that will be good may be bad
    hopeless: float = 1e-6  # an efficiency that nothing has been seen to recover from
    aside_growth: float = 2.0  # between fits of a mixture that is hopeless so far
    last_fit: float = 0.85  # then one more at the end of the tuning
    early_states: float = 1.0 / 3.0  # of those seen are too early to learn from
    max_states: int = 1_500  # that one fit looks at
    max_archive: int = 1_500  # states that scouts brought back
    max_work: float = 4e7  # states squared times dimension: what linking them takes
    max_modes: int = 400
    check_per_dim: int = 2  # iterations between looks for states that no mode explains
    min_check: int = 20
    checks_a_decade: int = 40  # late in a long tuning looks are as rare as that
    scout_steps_per_dim: int = 15  # in each round of a scout
    min_scout_steps: int = 60
    max_rounds: int = 6  # a scout that still climbs then is given up
    scout_kept: int = 10  # states of a scout
    blind_share: float = 0.3  # of the evaluations of scouts, for those that start where all is explained
    explained: float = 0.999  # quantile of the distance from a mode up to which it explains a state
    worth_a_state: float = 1.0 / 3.0  # over the dimension: how much of an independent state a step is
    prior_acceptance: float = 0.3  # of jumps, before any was made
    prior_jumps: int = 20  # which that is worth
    keep_old: float = 0.8  # a new mixture that is worth less than this share of the old one is not taken


POLICY = Policy()
