"""The filler of normals and uniforms against NumPy, bit for bit."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from harness import out_of_lanes
from temperance.core import levels, random
from temperance.core.lanes import LANES
from temperance.core.random import Streams
from temperance.core.schema import allocate, sizes
from temperance.core.state import JUMP_UNIFORMS, Noise, State
from temperance.moves import moves_with, records_of
from temperance.runs import growing
from temperance.runs.noise import NoiseBlocks, first_streams

N_LEVELS, DIM = 6, 7
TAIL = random.ziggurat().tail[0]


def empty_noise(n_iterations: int, n_swaps: int = 2, n_move_uniforms: int = 2) -> Noise:
    n_bundles = -(-N_LEVELS // LANES)
    return Noise(
        np.full((n_bundles, n_iterations, DIM, LANES), np.nan),
        np.full((N_LEVELS, n_iterations), np.nan),
        np.full((N_LEVELS, n_iterations, n_move_uniforms), np.nan),
        np.full((n_iterations, 3 * n_swaps), np.nan),
        np.full((n_iterations, 2, JUMP_UNIFORMS), np.nan),
    )


def generators(seed: int) -> Streams:
    """Generators in the places of their streams."""
    children = np.random.SeedSequence(seed).spawn(2 + 3 * N_LEVELS)
    made = [np.random.SFC64(child) for child in children]
    by_level = (made[k * N_LEVELS : (k + 1) * N_LEVELS] for k in range(3))
    return Streams(*by_level, made[-2], made[-1])


def words(of: Streams) -> Streams:
    def state(bits):
        return bits.state["state"]["state"]

    by_level = (np.array([state(bits) for bits in part]) for part in (of.normal, of.uniform, of.move))
    return Streams(*by_level, state(of.swap).copy(), state(of.jump).copy())


def test_numbers_are_numpys_own(seed) -> None:
    """Three million normals a level pass every branch of the ziggurat, its tail thousands of times."""
    n_iterations = 3_000_000 // DIM
    streams, noise, expected = words(generators(seed)), empty_noise(n_iterations), generators(seed)
    random.compiled_fill()(streams, N_LEVELS, 0, 1, random.ziggurat(), noise)
    normals = out_of_lanes(noise.normals, N_LEVELS)
    for level in range(N_LEVELS):
        by_numpy = np.random.Generator(expected.normal[level]).standard_normal((n_iterations, DIM))
        np.testing.assert_array_equal(normals[level], by_numpy)
        by_numpy = np.random.Generator(expected.uniform[level]).random(n_iterations)
        np.testing.assert_array_equal(noise.uniforms[level], by_numpy)
        by_numpy = np.random.Generator(expected.move[level]).random((n_iterations, 2))
        np.testing.assert_array_equal(noise.move_uniforms[level], by_numpy)
    swaps = np.random.Generator(expected.swap).random(noise.swap_uniforms.shape)
    np.testing.assert_array_equal(noise.swap_uniforms, swaps)
    jumps = np.random.Generator(expected.jump).random(noise.jump_uniforms.shape)
    np.testing.assert_array_equal(noise.jump_uniforms, jumps)
    for moved_on, by_numpy in zip(streams, words(expected), strict=True):
        np.testing.assert_array_equal(moved_on, by_numpy)
    assert (normals > TAIL).sum() > 1000
    assert (normals < -TAIL).sum() > 1000


def test_a_broken_table_is_seen(seed) -> None:
    tables = random.ziggurat()
    broken = tables._replace(limit=tables.limit + np.uint64(1 << 40))
    streams, noise = words(generators(seed)), empty_noise(20_000)
    random.compiled_fill()(streams, 1, 0, 1, broken, noise)
    by_numpy = np.random.Generator(generators(seed).normal[0]).standard_normal((20_000, DIM))
    assert not np.array_equal(out_of_lanes(noise.normals, 1)[0], by_numpy)


def test_dropped_levels_draw_nothing(seed) -> None:
    streams, noise, before = words(generators(seed)), empty_noise(10), words(generators(seed))
    random.compiled_fill()(streams, 2, 0, 1, random.ziggurat(), noise)
    for part in ("normal", "uniform"):
        np.testing.assert_array_equal(getattr(streams, part)[2:], getattr(before, part)[2:])
        assert np.all(getattr(streams, part)[:2] != getattr(before, part)[:2])
    assert np.all(np.isnan(out_of_lanes(noise.normals, N_LEVELS)[2:]))
    assert np.all(np.isnan(noise.uniforms[2:]))


def new_streams(seed: int) -> State:
    state: State = allocate(records_of(moves_with("robust")).state, sizes(N_LEVELS, DIM))
    state.n_levels[0], state.born[:] = N_LEVELS, np.arange(N_LEVELS)
    first_streams(state, np.random.SeedSequence(seed))
    return state


def copied(noise: Noise) -> Noise:
    return Noise._make(numbers.copy() for numbers in noise)


def test_blocks_go_on_where_the_last_one_stopped(seed) -> None:
    """Blocks of any length give the numbers of one long block, also where some were given back."""
    whole = copied(NoiseBlocks(N_LEVELS, DIM, jumps=True).draw(new_streams(seed), 100))
    state, blocks, row = new_streams(seed), NoiseBlocks(N_LEVELS, DIM, jumps=True), 0
    for size, used in ((1, 1), (2, 2), (60, 40), (20, 0), (57, 57)):
        part = copied(blocks.draw(state, size))
        if used < size:
            blocks.give_back(state, used)
        rows = slice(row, row + used)
        made, expected = (out_of_lanes(noise.normals, N_LEVELS) for noise in (part, whole))
        np.testing.assert_array_equal(made[:, :used], expected[:, rows])
        np.testing.assert_array_equal(part.uniforms[:, :used], whole.uniforms[:, rows])
        np.testing.assert_array_equal(part.swap_uniforms[:used], whole.swap_uniforms[rows])
        np.testing.assert_array_equal(part.jump_uniforms[:used], whole.jump_uniforms[rows])
        row += used


def test_a_level_keeps_its_streams_when_it_moves_and_a_new_one_disturbs_none(seed) -> None:
    """The last level takes the place of the third in the middle of a block; another is then put in."""
    whole = copied(NoiseBlocks(N_LEVELS, DIM).draw(new_streams(seed), 50))
    state, blocks = new_streams(seed), NoiseBlocks(N_LEVELS, DIM)
    blocks.draw(state, 50)
    levels.move_level(N_LEVELS - 1, 2, state)
    state.n_levels[0] = 3
    blocks.give_back(state, 20)
    growing.put_in(state, 1, 1.5, 77, np.random.SeedSequence(seed))
    noise = blocks.draw(state, 30)
    normals, expected = out_of_lanes(noise.normals, N_LEVELS), out_of_lanes(whole.normals, N_LEVELS)
    for level, born in ((0, 0), (2, 1), (3, N_LEVELS - 1)):
        np.testing.assert_array_equal(normals[level], expected[born][20:])
        np.testing.assert_array_equal(noise.uniforms[level], whole.uniforms[born][20:])
    assert not np.any(np.isin(normals[1], expected))


@pytest.mark.parametrize("layer", [0, 1, 2, 100, 255])
def test_tables_are_those_that_the_tool_reads(layer) -> None:
    path = Path(__file__).parent.parent / "tools" / "ziggurat_tables.py"
    spec = importlib.util.spec_from_file_location("ziggurat_tables", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tables = random.ziggurat()
    assert tables.limit[layer] == tool.limit(layer)
    assert tables.width[layer] == tool.normal_from(layer, 1)[0]
