import gc
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from temperance.executors import cores

SUITE_SEED = 20261116

# Files in this order, each in one process: one that needs no compiled loop beside one that compiles it, a few
# more without it, then what takes longest, so that no process is left with it alone at the end.
FIRST = [
    "broken_kernels", "kernels", "layers", "plots", "targets", "zoo", "awkward_runs", "invariance", "docs",
    "paper_items", "findings", "adaptation", "known_answers", "swaps_api", "swap_exact", "mode_learning",
    "interrupt_and_progress", "pool",
]  # fmt: skip

# The suite takes all cores already: more threads in each process would only wait for one another.
cores.os = SimpleNamespace(cpu_count=lambda: 1, environ={})

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {f"test_{name}": k for k, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(FIRST)))


def pytest_collection_finish() -> None:
    """What is there now stays: without this each collection of garbage looks through all of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """From the suite's seed and the test's name; never chosen to make a test pass."""
    name = f"{SUITE_SEED} {request.node.name}"
    return zlib.crc32(name.encode())


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
