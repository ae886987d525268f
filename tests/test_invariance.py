"""The frozen kernel leaves the product of all levels exactly invariant."""

import pytest

from invariance import exact_law, frozen_run, p_values
from judge import judge_sequentially
from strategies import STRATEGIES, SWEEPS, SYMMETRIC

N_FIRST = 4_000


CASES = [(name, *case) for name in [*STRATEGIES, *SWEEPS] for case in [("long", "power"), ("short", "prior")]]
# Where the ratio of weights matters, a ladder on which leaving it out shows most.
CASES += [(name, "short", "spread") for name in STRATEGIES if name not in SYMMETRIC]


@pytest.mark.parametrize(("name", "walks", "mode"), CASES)
def test_frozen_kernel_is_exactly_invariant(name, walks, mode, rng) -> None:
    law, run = exact_law(mode), frozen_run(mode, (STRATEGIES | SWEEPS)[name], walks)
    verdict = judge_sequentially(lambda n, rng: p_values(run, law, n, rng), rng, n_first=N_FIRST)
    assert verdict.passed, verdict.detail


@pytest.mark.parametrize("rest_every", [1, 2])
@pytest.mark.parametrize("mode", ["power", "prior"])
@pytest.mark.parametrize("jumps", ["jumps", "refresh", "both"])
@pytest.mark.parametrize("walk", ["covariance", "robust"])
def test_jumps_are_exactly_invariant(walk, jumps, mode, rest_every, rng) -> None:
    """Every combination of walk, jumps of the base, fresh proposals at the hottest level, and rest."""
    law, run = exact_law(mode), frozen_run(mode, SWEEPS["even_odd"], "long", walk=walk, jumps=jumps)
    verdict = judge_sequentially(lambda n, rng: p_values(run, law, n, rng, rest_every), rng, n_first=N_FIRST)
    assert verdict.passed, verdict.detail
