"""The frozen kernel leaves the product of all levels exactly invariant."""

import pytest

from invariance import exact_law, frozen_run, p_values
from judge import judge_sequentially
from strategies import STRATEGIES, SWEEPS

N_FIRST = 5_000


@pytest.mark.parametrize(("walks", "mode"), [("long", "power"), ("short", "spread"), ("short", "prior")])
@pytest.mark.parametrize("name", [*STRATEGIES, *SWEEPS])
def test_frozen_kernel_is_exactly_invariant(name, walks, mode, rng) -> None:
    law, run = exact_law(mode), frozen_run(mode, (STRATEGIES | SWEEPS)[name], walks)
    verdict = judge_sequentially(lambda n, rng: p_values(run, law, n, rng), rng, n_first=N_FIRST)
    assert verdict.passed, verdict.detail
