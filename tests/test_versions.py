"""The lowest and the newest versions that we say we work with.

We use what numba does not promise (core/numba_internals), so that a version is good once it was tried.
"""

import subprocess
import sys
import tomllib
from importlib import metadata

import pytest

from environments import ROOT, Environment, find_python

DIGESTS = str(ROOT / "tools" / "draws_digest.py")
CONTRACT = (  # kernels and their twins, every kind of target, the cache, what is refused and how
    "test_kernels.py",
    "test_lanes.py",
    "test_random.py",
    "test_targets.py",
    "test_cache.py",
    "test_bad_input.py",
)
TOOLS = ("hypothesis", "pytest", "scipy")
OLDER, NEWER = (11, 12), (14, 13, 12)  # minor versions of Python, the preferred first
SHOW = "import numba, numpy, platform as p; print(numba.__version__, numpy.__version__, p.python_version())"


def bounds() -> dict[str, list[str]]:
    """``{"numba": [">=0.61", "<0.69"], ...}``, as declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parted = [requirement.partition(">=") for requirement in project["dependencies"]]
    return {name: (sign + rest).split(",") for name, sign, rest in parted}


def lowest() -> list[str]:
    return [f"{name}{limits[0].replace('>=', '==')}" for name, limits in bounds().items()]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.strip("<>=").split(".")[:2])


def test_numba_is_bounded_on_both_sides_and_the_one_here_is_within():
    low, high = bounds()["numba"]
    assert (low[:2], high[:1]) == (">=", "<")
    assert numbers(low) <= numbers(metadata.version("numba")) < numbers(high)


def test_every_requirement_has_a_lowest_version():
    assert lowest()[1].startswith("numba==")
    assert all(requirement.count("==") == 1 for requirement in lowest())


def python_or_skip(minors: tuple[int, ...]) -> str:
    python = find_python(minors)
    if python is None:
        pytest.skip(f"none of {', '.join(f'Python 3.{minor}' for minor in minors)} is installed here")
    return python


@pytest.fixture(scope="module")
def digests_here() -> str:
    done = subprocess.run([sys.executable, DIGESTS], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def check(environment: Environment, digests: str) -> None:
    sys.stdout.write(f"numba, NumPy, Python: {environment.run('-c', SHOW)}")
    environment.test(*CONTRACT)
    assert environment.run(DIGESTS) == digests, "a version that changes the draws"


@pytest.mark.slow
def test_the_lowest_versions(tmp_path, digests_here):
    environment = Environment(tmp_path / "env", python_or_skip(OLDER), [*lowest(), *TOOLS])
    installed = environment.run("-c", SHOW).split()[:2]
    assert [numbers(version) for version in installed] == [
        numbers(bounds()[name][0]) for name in ("numba", "numpy")
    ]
    check(environment, digests_here)


@pytest.mark.slow
def test_the_newest_versions(tmp_path, digests_here):
    check(Environment(tmp_path / "env", sys.executable, TOOLS), digests_here)


@pytest.mark.slow
def test_the_newest_versions_and_a_newer_python(tmp_path, digests_here):
    newer = tuple(minor for minor in NEWER if minor > sys.version_info.minor)
    check(Environment(tmp_path / "env", python_or_skip(newer), TOOLS), digests_here)
