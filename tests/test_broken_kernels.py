"""The invariance test catches broken kernels."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# The names in mutants.py, which is run on its own: only there is the compiler off.
MUTANTS = [
    "turned_exponent",
    "ratio_forgotten",
    "untempered_walk",
    "stale_exchange",
    "duplicating_exchange",
    "unswapped_ratio",
    "drifting_proposal",
    "neighbour_for_partner",
    "repeat_until_accepted",
    "prior_tempered_too",
    "prior_left_behind",
    "jump_without_ratio",
    "refresh_without_ratio",
    "best_component_only",
    "refitted_meanwhile",
    "coordinates_adapt",
    "betas_of_the_first_bundle",
    "resting_levels_accept",
    "looks_at_the_state",
    "height_times_beta",
    "shrinks_from_the_left",
    "always_to_the_right",
    "last_point_is_taken",
    "leap_without_jacobian",
    "responsibility_of_one_side",
    "weights_not_renormalised",
    "maps_follow_the_state",
    "wrong_mode_of_origin",
    "humps_without_density",
]


@pytest.fixture(scope="module")
def caught() -> dict[str, bool]:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(HERE)}
    command = [sys.executable, str(HERE / "mutants.py"), "20261116"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name, caught) -> None:
    assert caught[name]


@pytest.mark.parametrize(
    "name",
    ["unbroken", "unbroken_jumps", "unbroken_leaps", "unbroken_prior", "unbroken_plane", "unbroken_slices"],
)
def test_unbroken_kernel_passes_with_the_compiler_off(name, caught) -> None:
    assert not caught[name]
