"""The filler of normals and uniforms against NumPy, bit for bit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from harness import out_of_lanes
from temperance.core import random
from temperance.core.lanes import LANES
from temperance.core.state import JUMP_UNIFORMS, Noise
from temperance.runs.noise import NoiseSource

N_LEVELS, DIM = 6, 7
TAIL = random.ziggurat().tail[0]


def empty_noise(n_iterations: int, n_swaps: int = 2) -> Noise:
    n_bundles = -(-N_LEVELS // LANES)
    return Noise(
        np.full((n_bundles, n_iterations, DIM, LANES), np.nan),
        np.full((N_LEVELS, n_iterations), np.nan),
        np.full((n_iterations, 3 * n_swaps), np.nan),
        np.full((n_iterations, 2, JUMP_UNIFORMS), np.nan),
    )


def generators(seed: int) -> list[np.random.SFC64]:
    return [np.random.SFC64(child) for child in np.random.SeedSequence(seed).spawn(2 + 2 * N_LEVELS)]


def words(of: list[np.random.SFC64]) -> np.ndarray:
    return np.array([bits.state["state"]["state"] for bits in of])


def test_numbers_are_numpys_own(seed) -> None:
    """Three million normals a level pass every branch of the ziggurat, its tail thousands of times."""
    n_iterations = 3_000_000 // DIM
    streams, noise, expected = words(generators(seed)), empty_noise(n_iterations), generators(seed)
    random.compiled_fill()(streams, N_LEVELS, 0, 1, random.ziggurat(), noise)
    normals = out_of_lanes(noise.normals, N_LEVELS)
    for level in range(N_LEVELS):
        by_numpy = np.random.Generator(expected[1 + 2 * level]).standard_normal((n_iterations, DIM))
        np.testing.assert_array_equal(normals[level], by_numpy)
        by_numpy = np.random.Generator(expected[2 + 2 * level]).random(n_iterations)
        np.testing.assert_array_equal(noise.uniforms[level], by_numpy)
    swaps = np.random.Generator(expected[0]).random(noise.swap_uniforms.shape)
    np.testing.assert_array_equal(noise.swap_uniforms, swaps)
    jumps = np.random.Generator(expected[-1]).random(noise.jump_uniforms.shape)
    np.testing.assert_array_equal(noise.jump_uniforms, jumps)
    np.testing.assert_array_equal(streams, words(expected))
    assert (normals > TAIL).sum() > 1000
    assert (normals < -TAIL).sum() > 1000


def test_a_broken_table_is_seen(seed) -> None:
    tables = random.ziggurat()
    broken = tables._replace(limit=tables.limit + np.uint64(1 << 40))
    streams, noise = words(generators(seed)), empty_noise(20_000)
    random.compiled_fill()(streams, 1, 0, 1, broken, noise)
    by_numpy = np.random.Generator(generators(seed)[1]).standard_normal((20_000, DIM))
    assert not np.array_equal(out_of_lanes(noise.normals, 1)[0], by_numpy)


def test_dropped_levels_draw_nothing(seed) -> None:
    streams, noise = words(generators(seed)), empty_noise(10)
    before = streams.copy()
    random.compiled_fill()(streams, 2, 0, 1, random.ziggurat(), noise)
    np.testing.assert_array_equal(streams[5:-1], before[5:-1])
    assert np.all(streams[:5] != before[:5])
    assert np.all(np.isnan(out_of_lanes(noise.normals, N_LEVELS)[2:]))
    assert np.all(np.isnan(noise.uniforms[2:]))


def test_a_source_goes_on_where_it_stopped(seed) -> None:
    """Blocks of any length give the numbers of one long block."""
    whole = NoiseSource(np.random.SeedSequence(seed), N_LEVELS, DIM).draw(100, N_LEVELS)
    source = NoiseSource(np.random.SeedSequence(seed), N_LEVELS, DIM)
    row = 0
    for size in (1, 2, 40, 57):
        part = source.draw(size, N_LEVELS)
        np.testing.assert_array_equal(part.normals, whole.normals[:, row : row + size])
        np.testing.assert_array_equal(part.uniforms, whole.uniforms[:, row : row + size])
        np.testing.assert_array_equal(part.swap_uniforms, whole.swap_uniforms[row : row + size])
        row += size


@pytest.mark.parametrize("layer", [0, 1, 2, 100, 255])
def test_tables_are_those_that_the_tool_reads(layer) -> None:
    path = Path(__file__).parent.parent / "tools" / "ziggurat_tables.py"
    spec = importlib.util.spec_from_file_location("ziggurat_tables", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tables = random.ziggurat()
    assert tables.limit[layer] == tool.limit(layer)
    assert tables.width[layer] == tool.normal_from(layer, 1)[0]
