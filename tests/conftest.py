import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from temperance.runs import drive

SUITE_SEED = 20261116

# The suite takes all cores already: more threads in each process would only wait for one another.
drive.os = SimpleNamespace(cpu_count=lambda: 1)

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("suite")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """From the suite's seed and the test's name; never chosen to make a test pass."""
    name = f"{SUITE_SEED} {request.node.name}"
    return zlib.crc32(name.encode())


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
