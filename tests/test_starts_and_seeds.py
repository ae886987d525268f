"""Starts, seeds, threads and ladders."""

import math
from statistics import NormalDist

import numba
import numpy as np
import pytest

import temperance as tp
from densities import gaussian
from temperance.runs.starts import MAX_TRIES
from temperance.settings import OPTIMAL_ACCEPTANCE

TINY = {"draws": 30, "tune": 30, "chains": 2, "levels": 3, "seed": 1, "progress": False}


@numba.njit
def still(x):
    """Every proposal is refused: the draws are the starts."""
    return 0.0 if np.all(x == np.floor(x)) else -np.inf


def run(function=gaussian, **options):
    return tp.sample(function, **{"initial": np.zeros(2), **TINY, **options})


def starts(initial, **options):
    result = run(still, initial=initial, keep=("draws", "statistics", "levels"), **options)
    return result.level_draws[:, -1]


def test_one_point_starts_every_chain_and_level():
    assert np.array_equal(starts([1.0, 2.0]), np.broadcast_to([1.0, 2.0], (2, 3, 2)))


def test_one_point_for_each_level():
    points = np.arange(6.0).reshape(3, 2)
    for chain in starts(points, swaps=tp.swaps.adjacent()):
        assert {tuple(point) for point in chain} == {tuple(point) for point in points}


def test_one_point_for_each_chain_and_level():
    points = np.arange(12.0).reshape(2, 3, 2)
    for chain, given in zip(starts(points), points, strict=True):
        assert {tuple(point) for point in chain} == {tuple(point) for point in given}


def test_points_for_each_level_start_in_order():
    points = np.arange(6.0).reshape(3, 2)
    result = run(
        still,
        initial=points,
        inverse_temperatures=[1.0, 0.5, 0.25],
        levels=None,
        tune=0,
        keep=("draws", "statistics", "levels"),
    )
    for chain in result.chains:
        assert np.array_equal(chain.sampling.level_draws[0], points[chain.sampling.replica[0]])


def test_function_of_a_generator_starts_chains_and_levels_apart():
    points = starts(lambda rng: rng.integers(0, 10**6, size=2))
    assert len(np.unique(points.reshape(-1, 2), axis=0)) == 6


def test_function_start_is_part_of_the_seed():
    initial = lambda rng: rng.normal(size=2)  # noqa: E731
    assert np.array_equal(run(initial=initial).draws, run(initial=initial).draws)
    assert not np.array_equal(run(initial=initial).draws, run(initial=initial, seed=2).draws)


def test_function_start_may_return_a_number_in_one_dimension():
    assert run(initial=lambda rng: rng.normal()).draws.shape == (2, 30, 1)


def test_function_start_is_searched_until_inside_the_support():
    tries = []

    def initial(rng):
        tries.append(rng.integers(0, 40) / 10.0)
        return np.array([tries[-1], 0.0])

    points = starts(initial)
    assert np.all(points[:, :, 0] == np.floor(points[:, :, 0]))
    assert len(tries) > 10


def test_function_start_is_tried_only_so_often():
    tries = []

    def initial(rng):
        tries.append(1)
        return np.array([0.5, 0.0])

    with pytest.raises(tp.StartError, match=f"found in {MAX_TRIES} tries; the last was chain 1, level 1"):
        run(still, initial=initial, chains=1)
    assert len(tries) <= 3 * (MAX_TRIES + 1) + 1


def test_given_start_outside_the_support_is_refused():
    points = np.zeros((2, 3, 2))
    points[1, 2, 0] = 0.5
    with pytest.raises(tp.StartError, match=r"chain 2, level 3, at the point \[0\.5, 0\.0\]"):
        run(still, initial=points)


def test_given_starts_are_not_changed():
    points = np.zeros((3, 2))
    run(initial=points)
    assert np.all(points == 0.0)


same_twice = {
    "int": lambda: 5,
    "numpy int": lambda: np.int64(5),
    "zero": lambda: 0,
    "SeedSequence": lambda: np.random.SeedSequence(5),
    "Generator": lambda: np.random.default_rng(5),
    "list": lambda: [5, 6],
    "tuple of all kinds": lambda: (np.random.SeedSequence(5), np.random.default_rng(6)),
}
seed_forms = pytest.mark.parametrize("seed", same_twice.values(), ids=same_twice.keys())


@seed_forms
def test_the_same_seed_gives_the_same_draws(seed):
    assert np.array_equal(run(seed=seed()).draws, run(seed=seed()).draws)


@seed_forms
def test_chains_differ(seed):
    one, other = run(seed=seed()).draws
    assert not np.any(one[-1] == other[-1])


def test_another_seed_gives_other_draws():
    assert not np.array_equal(run(seed=1).draws, run(seed=2).draws)


def test_no_seed_gives_other_draws_each_time():
    assert not np.array_equal(run(seed=None).draws, run(seed=None).draws)


def test_a_seed_sequence_is_not_used_up():
    seed = np.random.SeedSequence(5)
    assert np.array_equal(run(seed=seed).draws, run(seed=seed).draws)
    assert seed.n_children_spawned == 0


def test_a_generator_is_used_up():
    seed = np.random.default_rng(5)
    assert not np.array_equal(run(seed=seed).draws, run(seed=seed).draws)


def test_spawned_seed_sequences_differ():
    one, other = np.random.SeedSequence(5).spawn(2)
    assert not np.array_equal(run(seed=one).draws, run(seed=other).draws)


APART = tp.Settings(jumps=tp.Jumps(share=False))


def test_a_list_seeds_each_chain_by_itself():
    both = run(seed=[5, 6], settings=APART)
    swapped = run(seed=[6, 5], settings=APART)
    assert np.array_equal(both.draws, swapped.draws[::-1])


@pytest.mark.parametrize(
    "seed",
    [
        5,
        None,
        np.random.SeedSequence(5),
        np.random.SeedSequence(5).spawn(3)[2],
        np.random.default_rng(5),
        [5, 6],
    ],
    ids=["int", "None", "SeedSequence", "spawned", "Generator", "list"],
)
def test_the_recorded_seed_repeats_the_run(seed):
    result = run(seed=seed)
    assert np.array_equal(run(seed=result.seed).draws, result.draws)


@pytest.mark.parametrize("initial", [np.zeros(2), lambda rng: rng.normal(size=2)], ids=["point", "function"])
def test_a_chain_does_not_depend_on_how_many_there_are(initial):
    alone = run(initial=initial, chains=1, settings=APART).draws
    assert np.array_equal(alone[0], run(initial=initial, chains=3, settings=APART).draws[0])


@pytest.mark.parametrize("cores", [2, 3])
@pytest.mark.parametrize("function", [gaussian, gaussian.py_func], ids=["njit", "plain"])
def test_threads_do_not_change_the_draws(function, cores):
    options = {
        "chains": 3,
        "keep": ("draws", "statistics", "levels"),
        "initial": lambda rng: rng.normal(size=2),
    }
    one = run(function, cores=1, **options)
    several = run(function, cores=cores, **options)
    assert np.array_equal(one.level_draws, several.level_draws, equal_nan=True)
    assert [chain.beta.tolist() for chain in one.chains] == [chain.beta.tolist() for chain in several.chains]


def first_ladder(**options):
    result = run(levels=options.pop("levels", None), tune=0, **options)
    return result.temperatures[0]


def test_temperatures_are_taken_as_they_are():
    assert np.allclose(first_ladder(temperatures=[1, 3, 10]), [1.0, 3.0, 10.0], rtol=1e-15)


def test_inverse_temperatures_are_taken_as_they_are():
    result = run(levels=None, inverse_temperatures=(1.0, 0.5, 0.25), tune=0)
    assert np.array_equal(result.chains[0].beta, [1.0, 0.5, 0.25])


def test_both_ladders_are_the_same_run():
    one = run(levels=None, temperatures=[1.0, 2.0, 4.0])
    other = run(levels=None, inverse_temperatures=[1.0, 0.5, 0.25])
    assert np.array_equal(one.draws, other.draws)


@pytest.mark.parametrize("levels", [1, 2, 5])
def test_a_number_of_levels_builds_a_geometric_ladder(levels):
    temperatures = first_ladder(levels=levels)
    assert len(temperatures) == levels
    ratio = math.exp(-2.0 * NormalDist().inv_cdf(0.5 * OPTIMAL_ACCEPTANCE) / math.sqrt(2))
    assert np.allclose(temperatures, ratio ** np.arange(levels))


def test_numpy_whole_numbers_are_whole_numbers():
    assert run(levels=np.int64(3), draws=np.int32(30)).draws.shape == (2, 30, 2)


def test_there_are_levels_without_being_asked_for():
    assert len(first_ladder()) > 1


@pytest.mark.parametrize(
    "ladder", [{"inverse_temperatures": [1.0, 0.3, 0.0]}, {"temperatures": [1.0, 3.0, math.inf]}]
)
def test_a_prior_allows_beta_zero_and_it_stays(ladder):
    options = {**TINY, "levels": None, "tune": 300}
    result = tp.sample(log_likelihood=gaussian, log_prior=gaussian, initial=np.zeros(2), **options, **ladder)
    assert all(chain.beta[-1] == 0.0 for chain in result.chains)
    assert all(0.0 < chain.beta[1] < 1.0 for chain in result.chains if len(chain.beta) == 3)
