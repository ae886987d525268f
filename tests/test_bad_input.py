"""Bad input, numbered as in the reliability catalogue; other misuse comes last."""

import dataclasses
import inspect
import linecache
import math
import re
import warnings
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import temperance as tp
from densities import gaussian
from harness import HandTarget, advance, make_noise, make_plan, make_run
from kinds import KINDS, interpreted
from temperance import keywords
from temperance.runs.failures import RAISED_CURE
from temperance.runs.starts import MAX_TRIES
from temperance.swaps.binding import bind
from temperance.targets import gather, make_target

EDGE = 0.2
TINY = {"draws": 20, "tune": 20, "chains": 1, "levels": 2, "seed": 1, "progress": False}
SMALL_STEPS = tp.Settings(adaptation=tp.Adaptation(initial_log_scale=-3.0))
UP_TO_THE_EDGE = {**TINY, "draws": 500, "tune": 0, "settings": SMALL_STEPS}

each_kind = pytest.mark.parametrize("kind", KINDS)


@numba.njit
def edged(x, data):
    inside, outside, raises = data[0], data[1], data[2]
    if x[0] <= EDGE:
        return inside + gaussian(x)
    if raises > 0.0:
        raise ValueError("beyond the edge")
    return outside


def plain_gaussian(x):
    return -0.5 * float(x @ x)


def run_edged(kind, *, inside=0.0, outside=0.0, raises=False, **options):
    data = np.array([inside, outside, float(raises)])
    function = interpreted(kind, edged)
    options = {"initial": np.zeros(2), **options}
    return tp.sample(function, data=data, vectorized=kind == "vectorized", **options)


def run_plain(**options):
    return tp.sample(plain_gaussian, **{"initial": np.zeros(2), **TINY, **options})


def run_ladder(**options):
    return run_plain(levels=None, **options)


def named_point(error):
    return [float(number) for number in re.search(r"point \[(.*?)\]", str(error)).group(1).split(",")]


def named(error, what):
    return int(re.search(rf"{what} (\d+)", str(error)).group(1))


@each_kind
def test_01_nan_at_start(kind):
    with pytest.raises(tp.StartError, match=r"chain 1, level 1 is nan.*point is \[0\.0, 0\.0\]"):
        run_edged(kind, inside=math.nan, **TINY)


@each_kind
def test_02_outside_the_support_at_all_starts(kind):
    with pytest.raises(tp.StartError, match=r"outside the support .*function of a numpy Generator"):
        run_edged(kind, inside=-math.inf, **TINY)


@each_kind
def test_03_outside_the_support_at_one_start(kind):
    with pytest.raises(tp.StartError, match=r"outside the support .* level 2, at the point \[1\.0, 0\.0\]"):
        run_edged(kind, outside=-math.inf, **{**TINY, "initial": [[0.0, 0.0], [1.0, 0.0]]})


@each_kind
def test_03_start_function_is_asked_again(kind):
    result = run_edged(kind, outside=-math.inf, initial=lambda rng: rng.normal(size=2), **TINY)
    assert np.all(result.draws[:, :, 0] <= EDGE)


def test_03_start_function_is_asked_only_so_often():
    with pytest.raises(tp.StartError, match=f"no start inside the support was found in {MAX_TRIES} tries"):
        run_edged("plain", outside=-math.inf, initial=lambda rng: rng.uniform(1.0, 2.0, size=2), **TINY)


@each_kind
def test_04_plus_infinity_at_start(kind):
    with pytest.raises(tp.StartError, match="chain 1, level 1 is inf, it must be finite"):
        run_edged(kind, inside=math.inf, **TINY)


@each_kind
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_bad_values_at_starts_that_are_drawn(kind, value):
    """With bad_density='reject' they are one more try of the draw; without, the error says so."""

    def outside_at_first(rng):  # the first call only tells the dimension
        n_calls.append(1)
        return [EDGE + 1.0 if len(n_calls) < 6 else EDGE - 1.0, rng.normal()]

    n_calls: list[int] = []
    starts = {**TINY, "initial": outside_at_first}
    result = run_edged(kind, outside=value, settings=tp.Settings(bad_density="reject"), **starts)
    assert np.all(result.draws[:, :, 0] <= EDGE)
    cure = r"it must be finite; .*; with Settings\(bad_density='reject'\) another start is tried instead"
    n_calls.clear()
    with pytest.raises(tp.StartError, match=cure):
        run_edged(kind, outside=value, **starts)


@each_kind
def test_bad_values_at_starts_that_were_given_are_no_draws(kind):
    settings = tp.Settings(bad_density="reject")
    with pytest.raises(tp.StartError, match="is nan, it must be finite; the point is ") as caught:
        run_edged(kind, outside=math.nan, settings=settings, **{**TINY, "initial": [1.0, 0.0]})
    assert "bad_density" not in str(caught.value)


def test_bad_values_at_all_starts_are_named():
    starts = {**TINY, "initial": lambda rng: rng.uniform(1.0, 2.0, size=2)}
    with pytest.raises(tp.StartError, match=f"in {MAX_TRIES} tries; .* where the log density is nan"):
        run_edged("plain", outside=math.nan, settings=tp.Settings(bad_density="reject"), **starts)


@each_kind
@pytest.mark.parametrize("value", [math.nan, math.inf], ids=["05_nan", "06_plus_infinity"])
def test_midway(kind, value):
    with pytest.raises(
        tp.DensityError, match=f"edged is {value} in chain 1, level .*bad_density='reject'"
    ) as info:
        run_edged(kind, outside=value, **UP_TO_THE_EDGE)
    assert_partial(info.value)


@each_kind
def test_08_exception_midway(kind):
    with pytest.raises(tp.DensityError, match="edged raised an error in chain 1, level") as info:
        run_edged(kind, raises=True, **UP_TO_THE_EDGE)
    assert_partial(info.value)
    assert isinstance(info.value.__cause__, ValueError)
    assert str(info.value).endswith(f"(ValueError: beyond the edge){RAISED_CURE}")
    assert str(info.value.__cause__) == "beyond the edge"
    assert_shows_the_line(info.value, "beyond the edge")


@each_kind
def test_08_exception_at_the_start(kind):
    said = rf"raised an error at the start of chain 1, level 1.*\(ValueError: beyond the edge\){RAISED_CURE}$"
    with pytest.raises(tp.DensityError, match=said) as info:
        run_edged(kind, raises=True, initial=[1.0, 0.0], **TINY)
    assert_shows_the_line(info.value, "beyond the edge")


@pytest.mark.parametrize("error", [TypeError, NameError, KeyError, FileNotFoundError, tp.InvalidInputError])
def test_08_a_mistake_in_the_program_is_no_point_to_be_rejected(error):
    """Such an error has no cure by -inf."""

    def density(x):
        if x[0] > EDGE:
            raise error("a mistake")
        return -0.5 * float(x @ x)

    with pytest.raises(tp.DensityError, match="a mistake") as info:
        tp.sample(density, initial=np.zeros(2), **UP_TO_THE_EDGE)
    assert "-inf" not in str(info.value)


def test_08_the_line_shown_is_the_users_own():
    """Not that of the library which the user's code called."""

    def density(x):
        return np.linalg.cholesky(-np.eye(2))[0, 0]  # not positive definite

    with pytest.raises(tp.DensityError) as info:
        tp.sample(density, initial=np.zeros(2), **TINY)
    assert_shows_the_line(info.value, "not positive definite")


def assert_shows_the_line(error, text):
    file, line = re.search(r", from (\S+):(\d+)(?: \(|$)", str(error)).groups()
    assert file == __file__
    assert text in linecache.getline(file, int(line))


def assert_partial(error):
    assert named_point(error)[0] > EDGE
    assert named(error, "level") in (1, 2)
    assert not error.result.complete
    assert error.result.draws.shape == (1, named(error, "iteration") - 1, 2)
    assert np.all(error.result.draws[:, :, 0] <= EDGE)
    assert error.result.draws.shape[1] > 0


def test_08_the_failed_chain_is_named_and_no_chain_is_lost():
    initial = np.zeros((2, 2, 2))
    initial[0] = -100.0
    with pytest.raises(tp.DensityError, match="in chain 2") as info:
        run_edged("njit", raises=True, **{**UP_TO_THE_EDGE, "chains": 2, "cores": 2, "initial": initial})
    assert len(info.value.result.chains) == 2


@each_kind
def test_08_exception_at_start_names_the_level_and_the_point(kind):
    with pytest.raises(tp.DensityError, match=r"chain 1, level 2, at the point \[1\.0, 0\.0\]") as info:
        run_edged(kind, raises=True, **{**TINY, "initial": [[0.0, 0.0], [1.0, 0.0]]})
    assert str(info.value.__cause__) == "beyond the edge"


@each_kind
@pytest.mark.parametrize("value", [math.nan, math.inf], ids=["05_nan", "06_plus_infinity"])
def test_midway_is_refused_and_counted_on_request(kind, value):
    settings = tp.Settings(adaptation=tp.Adaptation(initial_log_scale=0.0), bad_density="reject")
    result = run_edged(kind, outside=value, **{**TINY, "settings": settings})
    assert result.complete
    assert result.chains[0].n_bad_density > 0
    assert np.all(result.draws[:, :, 0] <= EDGE)


@each_kind
def test_07_minus_infinity_midway_is_a_plain_rejection(kind):
    result = run_edged(kind, outside=-math.inf, **TINY)
    assert result.complete
    assert result.chains[0].n_bad_density == 0
    assert np.all(result.draws[:, :, 0] <= EDGE)


def test_09_exception_in_compiled_code_does_not_become_a_number():
    with pytest.raises(tp.DensityError, match="raised an error"):
        run_edged("njit", raises=True, **{**TINY, "levels": 1, "draws": 500})


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit])
def test_10_interrupt_at_start_is_not_an_error_of_the_density(failure):
    def interrupted(x):
        raise failure

    with pytest.raises(failure):
        tp.sample(interrupted, initial=[0.0], **TINY)


@numba.njit
def one_element_array(x):
    return x[:1]


@numba.njit
def nothing(x):
    pass


@numba.njit
def complex_number(x):
    return complex(x[0], 1.0)


@numba.njit
def text(x):
    return "-1.0"


@numba.njit
def truth(x):
    return x[0] > 1.0


@each_kind
@pytest.mark.parametrize(
    "function",
    [one_element_array, nothing, complex_number, text, truth],
    ids=["11_array", "12_none", "13_complex", "13_string", "bool"],
)
def test_wrong_return_is_refused_by_name(kind, function):
    with pytest.raises(tp.InvalidTypeError, match=rf"{function.__name__}.* must return"):
        tp.sample(interpreted(kind, function), initial=[0.0], vectorized=kind == "vectorized", **TINY)


@pytest.mark.parametrize("value", [-1, np.float32(-1.0), np.array(-1.0), -1.0, np.int64(-1)], ids=repr)
def test_14_numbers_of_all_kinds_are_cast(value):
    result = tp.sample(lambda x: value, initial=[0.0], **TINY)
    assert np.all(result.log_density == -1.0)


@pytest.mark.parametrize("argument", ["log_likelihood", "log_prior"])
def test_15_not_a_function(argument):
    parts = {"log_likelihood": {"log_prior": gaussian}, "log_prior": {"log_likelihood": gaussian}}
    with pytest.raises(tp.InvalidTypeError, match=f"{argument} must be a function, got ndarray"):
        tp.sample(initial=[0.0], **{argument: np.zeros(3), **parts[argument]}, **TINY)


def test_16_argument_is_a_private_copy():
    seen = []

    def greedy(x):
        seen.append(x.copy())
        value = plain_gaussian(x)
        x[:] = 1e9
        return value

    result = tp.sample(greedy, initial=np.zeros(2), preflight=False, **TINY)  # which looks far away
    assert np.array_equal(result.draws, run_plain().draws)
    assert np.abs(seen).max() < 1e3


def test_18_prints_of_a_density_are_not_swallowed(capfd):
    def talking(x):
        print("called")  # noqa: T201
        return plain_gaussian(x)

    tp.sample(talking, initial=[0.0], **{**TINY, "draws": 2, "tune": 0})
    assert capfd.readouterr().out.count("called") >= 2 * 2


def test_18_a_warning_of_a_density_is_shown_once():
    def warning(x):
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
        return plain_gaussian(x)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        tp.sample(warning, initial=[0.0], **TINY)
    assert [str(one.message) for one in caught] == ["careful"]


@pytest.mark.parametrize(
    "shape",
    [(3, 2), (1, 3, 2), (2, 2, 2), (1, 1, 2, 2)],
    ids=["19_levels", "19_levels_3d", "19_chains", "19_4d"],
)
def test_initial_of_wrong_shape(shape):
    with pytest.raises(tp.InvalidInputError, match=r"initial .* shapes \(2,\), \(2, 2\), \(1, 2, 2\) .* got"):
        run_plain(initial=np.zeros(shape))


def test_19_initial_of_ragged_rows():
    with pytest.raises(tp.TemperanceError, match="initial must"):
        run_plain(initial=[[0.0, 0.0], [1.0]])


def test_19_start_function_of_wrong_shape():
    with pytest.raises(
        tp.InvalidInputError, match=r"initial\(generator\) must return one point, got shape \(2, 2\)"
    ):
        run_plain(initial=lambda rng: rng.normal(size=(2, 2)))


def test_19_start_function_of_changing_dimension():
    sizes = iter(range(2, 9))
    with pytest.raises(tp.InvalidInputError, match=r"initial\(generator\) must return one point"):
        run_plain(initial=lambda rng: np.zeros(next(sizes)))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_20_initial_not_finite(value):
    with pytest.raises(tp.InvalidInputError, match="initial must be finite"):
        run_plain(initial=[0.0, value])


def test_20_start_function_not_finite():
    with pytest.raises(tp.InvalidInputError, match=r"initial\(generator\) must be finite"):
        run_plain(initial=lambda rng: [0.0, math.nan])


def test_21_initial_of_whole_numbers_is_cast():
    assert np.array_equal(run_plain(initial=[0, 0]).draws, run_plain(initial=[0.0, 0.0]).draws)


@pytest.mark.parametrize("initial", [["a", "b"], [None, 1.0], [1j, 0.0], [True, False], {"x": 1.0}], ids=repr)
def test_21_initial_of_wrong_type(initial):
    with pytest.raises(tp.InvalidTypeError, match="initial must be numbers or a function"):
        run_plain(initial=initial)


def test_22_the_same_start_for_all_levels():
    result = run_plain(initial=np.ones((2, 2)))
    assert np.array_equal(result.draws, run_plain(initial=np.ones(2)).draws)
    assert len(np.unique(result.draws[0], axis=0)) > 1


def degenerate_run(function, **bounds):
    settings = tp.Settings(bounds=tp.Bounds(**bounds))
    return tp.sample(function, initial=np.zeros(2), **{**TINY, "tune": 300, "settings": settings})


def assert_positive_definite(result):
    assert np.all(np.isfinite(result.chains[0].covariance))
    np.linalg.cholesky(result.chains[0].covariance)


def test_23_dimension_without_variance_warns_and_stays_positive_definite():
    with pytest.warns(tp.BoundWarning, match=r"bound on variance was hit \d+ times.*Bounds\(variance=...\)"):
        result = degenerate_run(
            lambda x: plain_gaussian(x) if x[1] == 0.0 else -math.inf, variance=(0.1, 1e2)
        )
    assert_positive_definite(result)


def test_23_scale_warns_when_nothing_is_ever_accepted():
    with pytest.warns(tp.BoundWarning, match=r"bound on scale was hit \d+ times") as caught:
        result = degenerate_run(lambda x: -math.inf if np.any(x) else 0.0, scale=(1e-1, 1e2))
    assert {one.filename for one in caught} == {__file__}, "the line that samples"
    assert np.all(result.draws == 0.0)


def test_23_flat_dimension_stays_positive_definite():
    assert_positive_definite(degenerate_run(lambda x: -0.5 * x[0] ** 2))


def test_24_collinear_target_stays_positive_definite():
    assert_positive_definite(degenerate_run(lambda x: -0.5 * x[0] ** 2 - 0.5e16 * (x[0] - x[1]) ** 2))


@pytest.mark.parametrize(
    "initial", [[], np.zeros((2, 0)), lambda rng: []], ids=["point", "levels", "function"]
)
def test_25_no_dimensions(initial):
    with pytest.raises(tp.TemperanceError, match=r"initial.* must"):
        run_plain(initial=initial)


def test_25_initial_without_axis():
    with pytest.raises(
        tp.InvalidInputError, match=r"initial must have at least one dimension, got shape \(\)"
    ):
        run_plain(initial=0.0)


def test_26_one_dimension():
    assert run_plain(initial=[0.0]).draws.shape == (1, 20, 1)


def test_27_memory_of_large_covariances():
    with pytest.raises(
        tp.InvalidInputError,
        match=r"2 chains x 100 levels in 5000 dimensions need 38\.0 GiB .*allowed by memory_limit",
    ):
        run_plain(initial=np.zeros(5000), levels=100, chains=2, memory_limit=8.0)


@pytest.mark.parametrize("levels", [0, -1])
def test_28_too_few_levels(levels):
    with pytest.raises(tp.InvalidInputError, match=f"levels must be at least 1, got {levels}"):
        run_plain(levels=levels)


@pytest.mark.parametrize("levels", [2.0, True, "2", [1, 2]], ids=repr)
def test_28_levels_not_a_whole_number(levels):
    with pytest.raises(tp.InvalidTypeError, match="levels must be a whole number, got"):
        run_plain(levels=levels)


def test_29_one_level_never_swaps():
    result = run_plain(levels=1)
    assert len(np.unique(result.draws)) > 2
    assert not np.any(result.chains[0].sampling.swap_attempts)
    assert "levels: 1 at the start" in str(result)


@pytest.mark.parametrize("strategy", [tp.swaps.adjacent, tp.swaps.uniform, tp.swaps.equi_energy])
def test_30_two_levels_with_every_strategy(strategy):
    result = run_plain(swaps=strategy())
    trace = result.chains[0].sampling
    np.testing.assert_array_equal(trace.swap_attempts, trace.evaluations == 2)
    assert np.any(trace.swap_attempts)


@pytest.mark.parametrize(
    ("ladder", "text"),
    [
        pytest.param({"inverse_temperatures": [1.0, 0.2, 0.5]}, "decrease from 1 strictly", id="31_order"),
        pytest.param({"temperatures": [1.0, 4.0, 2.0]}, "increase from 1 strictly", id="31_temperatures"),
        pytest.param({"inverse_temperatures": [1.0, 0.5, 0.5]}, "decrease from 1 strictly", id="32_twice"),
        pytest.param({"temperatures": [1.0, 1.0]}, "increase from 1 strictly", id="32_temperatures"),
        pytest.param({"inverse_temperatures": [1.0, -0.5]}, "all positive", id="33_negative"),
        pytest.param({"inverse_temperatures": [1.0, math.nan]}, "all positive", id="33_nan"),
        pytest.param({"inverse_temperatures": [1.0, 0.0]}, "beta = 0 only .* log_prior", id="33_zero"),
        pytest.param({"temperatures": [1.0, math.inf]}, "beta = 0 only .* log_prior", id="33_infinite"),
        pytest.param({"temperatures": [1.0, 0.0]}, "all positive", id="33_zero_temperature"),
        pytest.param({"temperatures": [1.0, math.nan]}, "all positive", id="33_nan_temperature"),
        pytest.param({"inverse_temperatures": [0.5, 0.2]}, "decrease from 1, all", id="34_below_one"),
        pytest.param({"inverse_temperatures": [2.0, 1.0]}, "decrease from 1, all", id="34_above_one"),
        pytest.param({"temperatures": []}, "must be a list of numbers", id="empty"),
        pytest.param({"temperatures": [[1.0, 2.0]]}, "must be a list of numbers", id="matrix"),
        pytest.param({"temperatures": 2.0}, "must be a list of numbers", id="number"),
        pytest.param({"temperatures": [1.0], "inverse_temperatures": [1.0]}, "only one of levels", id="both"),
    ],
)  # fmt: skip
def test_ladder(ladder, text):
    with pytest.raises(tp.InvalidInputError, match=text):
        run_ladder(**ladder)


@pytest.mark.parametrize("values", [["1", "2"], [1.0, None], ["a"], [1.0, 2j]], ids=repr)
def test_33_ladder_not_of_numbers(values):
    with pytest.raises(tp.InvalidTypeError, match="temperatures must be a list of numbers"):
        run_ladder(temperatures=values)


def test_35_temperature_gap_at_its_upper_bound():
    def box(x):
        return 0.0 if abs(x[0]) < 1.0 else -math.inf

    settings = tp.Settings(bounds=tp.Bounds(temperature_gap=(1e-4, 50.0)))
    with pytest.warns(tp.BoundWarning, match=r"bound on temperature_gap was hit \d+ times"):
        result = tp.sample(box, initial=[0.0], **{**TINY, "tune": 200, "settings": settings})
    assert result.temperatures[0][1] <= 51.0 * (1.0 + 1e-12)


def test_35_temperature_gap_at_its_lower_bound():
    settings = tp.Settings(bounds=tp.Bounds(temperature_gap=(9.0, 1e9)))
    with pytest.warns(tp.BoundWarning, match=r"bound on temperature_gap was hit \d+ times"):
        result = run_plain(initial=[[0.0], [1e6]], tune=50, settings=settings)
    assert result.temperatures[0][1] >= 10.0 * (1.0 - 1e-12)


@pytest.mark.parametrize("exponent", [0.5, 0.4, 1.1, -1.0])
def test_36_gain_exponent(exponent):
    with pytest.raises(tp.InvalidInputError, match=rf"exponent must lie in \(0\.5, 1\], got {exponent:g}"):
        tp.Gain(exponent=exponent)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, 2.0])
@pytest.mark.parametrize("name", ["walk_acceptance", "swap_acceptance"])
def test_36_acceptance_rate(name, rate):
    with pytest.raises(tp.InvalidInputError, match=rf"{name} must lie in \(0, 1\), got {rate:g}"):
        tp.Adaptation(**{name: rate})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"after": -1}, "after must be at least 0, got -1"),
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"min_levels": 0}, "min_levels must be at least 1, got 0"),
        ({"threshold": "strict"}, "threshold must be one of 'exact', 'asymptotic', got 'strict'"),
        ({"leniency": 1.0}, r"leniency must lie in \[0, 1\), got 1"),
        ({"leniency": -0.1}, r"leniency must lie in \[0, 1\), got -0\.1"),
        ({"after": 1.5}, "after must be a whole number, got float"),
        ({"enabled": "no"}, "enabled must be"),
    ],
)
def test_36_trimming(options, text):
    with pytest.raises(tp.TemperanceError, match=text):
        tp.Trimming(**options)


def test_37_no_draws_give_an_empty_result():
    result = run_plain(draws=0)
    assert result.complete
    assert result.draws.shape == (1, 0, 2)
    assert "1 chain x 0 draws" in str(result)


@pytest.mark.parametrize("name", ["draws", "tune", "chains", "cores"])
def test_37_negative_number(name):
    with pytest.raises(tp.InvalidInputError, match=f"{name} must be at least [01], got -1"):
        run_plain(**{name: -1})


@pytest.mark.parametrize("name", ["chains", "cores"])
def test_37_zero_chains_or_cores(name):
    with pytest.raises(tp.InvalidInputError, match=f"{name} must be at least 1, got 0"):
        run_plain(**{name: 0})


@pytest.mark.parametrize("name", ["draws", "tune", "chains", "cores"])
@pytest.mark.parametrize("value", [1.0, True, "1"])
def test_37_not_a_whole_number(name, value):
    with pytest.raises(
        tp.InvalidTypeError, match=f"{name} must be a whole number, got {type(value).__name__}"
    ):
        run_plain(**{name: value})


def model_with(**keywords):
    return tp.Model(lambda p: 0.0, **keywords)


@pytest.mark.parametrize(
    ("call", "name", "said"),
    [
        (tp.pymc.sampler(), "levels", "temperance.pymc.sampler(levels=...)"),
        (tp.pymc.sampler(), "seed", "did you mean random_seed=?"),
        (tp.pymc.sampler(), "target_accept", "it has draws, tune, chains, cores, random_seed, "),
        (model_with, "priors", "did you mean parameters=?"),
        (model_with, "peroidic", "did you mean periodic=?"),
        (model_with, "seed", "temperance.sample(model, seed=...)"),
        (model_with, "colour", "it has log_likelihood, parameters, data, derived, "),
        (run_plain, "burn_in", "did you mean tune=?"),
        (run_plain, "level", "did you mean levels=?"),
        (run_plain, "temperature", "did you mean temperatures=?"),
        (run_plain, "random_seed", "did you mean seed=?"),
        (run_plain, "n_walkers", "did you mean chains=?"),
        (run_plain, "temparatures", "did you mean temperatures=?"),
        (run_plain, "priors", "temperance.Model(function, parameters=...)"),
        (run_plain, "bounds", "temperance.Model(function, bounds=...)"),
        (run_plain, "jumps", "settings=temperance.Settings(jumps=...)"),
        (run_plain, "ess", "until=temperance.Until(ess=...)"),
    ],
)
def test_38_a_keyword_that_does_not_exist_is_answered_with_the_one_that_was_meant(call, name, said):
    with pytest.raises(
        TypeError, match=rf"(Model|sample|Sampler\.sample)\(\) has no keyword '{name}'; "
    ) as info:
        call(**{name: 1})
    assert said in str(info.value)


def keywords_of(function):
    return {one.name for one in inspect.signature(function).parameters.values() if one.name != "_unknown"}


def fields_of(*classes):
    return {one.name for cls in classes for one in dataclasses.fields(cls)}


HOMES = {
    keywords.IN_A_MODEL: keywords_of(tp.Model),
    keywords.IN_THE_RUN: keywords_of(tp.sample),
    keywords.IN_THE_SAMPLER: keywords_of(tp.pymc.sampler),
    keywords.IN_SETTINGS: fields_of(tp.Settings),
    keywords.IN_UNTIL: fields_of(tp.Until),
}


@pytest.mark.parametrize(
    ("meant", "own"),
    [
        (keywords.SAMPLE, keywords_of(tp.sample)),
        (keywords.MODEL, keywords_of(tp.Model)),
        (keywords.PYMC_SAMPLE, keywords_of(tp.pymc.Sampler.sample)),
    ],
    ids=["sample", "Model", "pymc"],
)
def test_38_every_keyword_that_is_proposed_exists(meant, own):
    assert not own & set(meant), "a keyword that exists needs no hint"
    there = {hint.format(name) for hint, names in HOMES.items() for name in names}
    assert set(meant.values()) <= there | {f"did you mean {name}=?" for name in own}


@pytest.mark.parametrize("kind", [tp.Gain, tp.Adaptation, tp.Trimming, tp.Bounds, tp.Settings])
def test_38_unknown_setting(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'gian'"):
        kind(gian=1.0)


@pytest.mark.parametrize("seed", [1.0, "1", True, np.array([1]), {1}], ids=repr)
def test_39_seed_of_wrong_type(seed):
    with pytest.raises(tp.InvalidTypeError, match="seed must be a whole number, None, a numpy SeedSequence"):
        run_plain(seed=seed)


def test_39_negative_seed():
    with pytest.raises(tp.InvalidInputError, match="seed must not be negative, got -1"):
        run_plain(seed=-1)


def test_39_huge_seeds_differ():
    assert not np.array_equal(run_plain(seed=2**200).draws, run_plain(seed=2**200 + 1).draws)


@pytest.mark.parametrize("seeds", [[], [1], [1, 2, 3]], ids=repr)
def test_40_one_seed_for_each_chain(seeds):
    with pytest.raises(tp.InvalidInputError, match=f"one seed for each chain: 2 chains, {len(seeds)} seeds"):
        run_plain(chains=2, seed=seeds)


@numba.njit
def weight_nowhere(i, j, position, log_density, beta):
    return -np.inf


@numba.njit
def weight_of_the_first(i, j, position, log_density, beta):
    return position[i, 0]


@numba.njit
def weight_in_one_order(i, j, position, log_density, beta):
    return 0.0 if position[i, 0] < position[j, 0] else -np.inf


def run_weighted(log_weight, **options):
    strategy = tp.swaps.custom(log_weight, log=True)
    return (
        run_plain(swaps=strategy, keep=("draws", "statistics", "levels"), **{"draws": 50, **options})
        .chains[0]
        .sampling
    )


def test_43_no_weight_at_all_means_no_swap():
    trace = run_weighted(weight_nowhere)
    assert not np.any(trace.swap_attempts)
    assert not np.any(trace.swap_accepted)


def test_46_asymmetric_weights_get_their_ratio(rng):
    """Each attempt is accepted or not as Eq. (3) says of its pair and its uniform."""
    strategy = tp.swaps.custom(weight_of_the_first, log=True)
    run = make_run(make_plan(HandTarget(gaussian), [1.0, 0.5, 0.2], 1, strategy=strategy, draws=200))
    close = 0
    for row in range(200):
        noise = make_noise(rng, 1, 3, 1)
        advance(run, noise, adapting=False, row=row)
        (i, j), after = run._swaps.view.pair, run.state.position[:, 0]
        exchanged = after.copy()
        exchanged[[i, j]] = after[[j, i]]
        accepted = run.sampling.swap_accepted[row] == 1
        before, there = (exchanged, after) if accepted else (after, exchanged)
        full = flow(there, run.state.beta, i, j) / flow(before, run.state.beta, i, j)
        plain = math.exp(np.diff(run.state.beta[[i, j]])[0] * 0.5 * (before[j] ** 2 - before[i] ** 2))
        choice = noise.swap_uniforms[0, 2]
        assert accepted == (choice < full)
        close += (choice < full) != (choice < plain)
    assert close > 10, "or a forgotten ratio of the weights would go unseen"


def flow(points, beta, i, j):
    """Density of all levels times the probability of the pair."""
    weights = {(k, m): math.exp(points[k]) for k in range(3) for m in range(k + 1, 3)}
    return math.exp(-0.5 * np.sum(beta * points**2)) * weights[i, j] / sum(weights.values())


def test_47_a_swap_that_cannot_be_undone_is_never_accepted():
    trace = run_weighted(weight_in_one_order)
    assert np.any(trace.swap_attempts)
    assert not np.any(trace.swap_accepted)


def choose_by_energy(energies, choice, other=0.5):
    n_levels = len(energies)
    levels = np.zeros((n_levels, 1)), np.array(energies), np.ones(n_levels), np.array([n_levels])
    bound = bind(tp.swaps.equi_energy(), *levels)
    assert bound.kernel(bound.view, choice, other) == 0.0
    return tuple(bound.view.pair)


@pytest.mark.parametrize("choice", [0.0, 0.5, 0.999])
def test_49_far_energies_do_not_underflow(choice):
    assert choose_by_energy([0.0, -1e4, 0.0], choice) == (0, 2)
    assert choose_by_energy([0.0, -1e4, -1e4 - 1.0, -2e4], choice) == (1, 2)


def test_49_far_energies_still_give_a_pair():
    assert choose_by_energy([0.0, -1e4], 0.5) == (0, 1)


def test_50_equal_energies_are_all_chosen():
    places = np.linspace(0.0, 1.0, 12, endpoint=False)
    chosen = {choose_by_energy([-3.0, -3.0, -3.0], choice, other) for choice in places for other in places}
    assert chosen == {(0, 1), (0, 2), (1, 2)}


@pytest.mark.parametrize("choice", [0.0, 0.5, 0.999])
def test_50_vanishing_densities_are_never_paired(choice):
    assert choose_by_energy([-math.inf, -math.inf], choice) == (-1, -1)
    assert choose_by_energy([-math.inf, 0.0, -math.inf, 1.0], choice) == (1, 3)


def trimmed_run(**trimming):
    settings = tp.Settings(
        adaptation=tp.Adaptation(walk_acceptance=0.234),
        trimming=tp.Trimming(every=1, threshold="asymptotic", **trimming),
    )
    return run_plain(levels=6, tune=200, settings=settings)


@pytest.mark.parametrize("min_levels", [1, 2, 3])
def test_51_min_levels_is_respected(min_levels):
    result = trimmed_run(after=0, min_levels=min_levels)
    assert result.n_levels[0] >= min_levels
    assert result.n_levels[0] < 6
    assert np.all(np.diff(result.chains[0].tuning.n_levels) <= 0)
    assert f"levels: 6 at the start, {result.n_levels[0]} at the end" in str(result)


def test_51_one_level_may_be_left():
    assert trimmed_run(after=0, min_levels=1).n_levels == [1]


def test_52_no_level_is_dropped_before_its_time():
    history = trimmed_run(after=120, min_levels=1).chains[0].tuning.n_levels
    assert np.all(history[:121] == 6)
    assert history[-1] < 6


@pytest.mark.parametrize("name", ["scale", "delay", "delay_per_dim"])
@pytest.mark.parametrize("value", [-1.0, math.inf])
def test_gain_out_of_range(name, value):
    with pytest.raises(tp.InvalidInputError, match=f"{name} must lie in"):
        tp.Gain(**{name: value})


@pytest.mark.parametrize("value", ["0.6", None, True], ids=repr)
def test_gain_not_a_number(value):
    with pytest.raises(tp.InvalidTypeError, match="exponent must be a number, got"):
        tp.Gain(exponent=value)


def test_gain_nan():
    with pytest.raises(tp.InvalidInputError, match="exponent must be a number, got NaN"):
        tp.Gain(exponent=math.nan)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"when": "never"}, "when must be one of 'tuning', 'always', got 'never'"),
        ({"gain": 0.6}, "gain must be a temperance.Gain, got float: 0.6"),
        ({"covariance_gain": 0.6}, "covariance_gain must be a temperance.Gain or None, got float"),
        ({"initial_log_scale": math.nan}, "initial_log_scale must be a number, got NaN"),
        ({"initial_log_scale": math.inf}, "initial_log_scale must"),
        ({"average": "no"}, "average must be"),
    ],
)
def test_adaptation(options, text):
    with pytest.raises(tp.TemperanceError, match=text):
        tp.Adaptation(**options)


@pytest.mark.parametrize("name", ["temperature_gap", "scale", "variance"])
@pytest.mark.parametrize(
    "value", [(2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (1.0, math.inf)], ids=repr
)
def test_bounds_out_of_order(name, value):
    with pytest.raises(tp.InvalidInputError, match=rf"{name} must satisfy 0 < low < high < inf, got \("):
        tp.Bounds(**{name: value})


@pytest.mark.parametrize("value", [1.0, (1.0,), (1.0, 2.0, 3.0), None], ids=repr)
def test_bounds_not_a_pair(value):
    with pytest.raises(tp.InvalidTypeError, match=r"scale must be a pair \(low, high\), got"):
        tp.Bounds(scale=value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"adaptation": "always"}, "adaptation must be a temperance.Adaptation, got str"),
        ({"trimming": True}, "trimming must be a temperance.Trimming, got bool"),
        ({"bounds": (1, 2)}, "bounds must be a temperance.Bounds, got tuple"),
        ({"bad_density": "ignore"}, "bad_density must be one of 'raise', 'reject', got 'ignore'"),
    ],
)
def test_settings(options, text):
    with pytest.raises(tp.TemperanceError, match=text):
        tp.Settings(**options)


def test_settings_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot assign to field"):
        tp.Settings().bad_density = "reject"


@pytest.mark.parametrize(
    "swaps", ["equi_energy", tp.swaps.equi_energy, 3], ids=["name", "function", "number"]
)
def test_swaps_of_wrong_type(swaps):
    with pytest.raises(
        tp.InvalidTypeError, match=r"swaps must be a strategy such as temperance.swaps.equi_energy\(\)"
    ):
        run_plain(swaps=swaps)


@pytest.mark.parametrize(
    "settings", [{"bad_density": "reject"}, tp.Settings, tp.Bounds()], ids=["dict", "class", "part"]
)
def test_settings_of_wrong_type(settings):
    with pytest.raises(tp.InvalidTypeError, match=r"settings must be a temperance\.Settings, got"):
        run_plain(settings=settings)


def test_adapt_misspelt():
    with pytest.raises(tp.InvalidInputError, match="adapt must be one of 'tuning', 'always', got 'tune'"):
        run_plain(adapt="tune")


@pytest.mark.parametrize("name", ["vectorized", "overwrite"])
def test_flags_are_true_or_false(name):
    with pytest.raises(tp.InvalidTypeError, match=f"{name} must be"):
        run_plain(**{name: "no"})


@pytest.mark.parametrize("function", [plain_gaussian, gaussian], ids=["plain", "njit"])
def test_data_for_a_density_that_takes_none(function):
    with pytest.raises(tp.InvalidTypeError, match=r"data= was given, but \w*gaussian does not take it"):
        tp.sample(function, initial=[0.0], data=np.zeros(3), **TINY)


@each_kind
def test_density_of_data_without_data(kind):
    with pytest.raises(
        tp.InvalidTypeError, match=r"edged takes two arguments, \(x, data\), but data= was not given"
    ):
        tp.sample(interpreted(kind, edged), initial=[0.0], **TINY)


def test_data_in_a_list():
    with pytest.raises(tp.InvalidTypeError, match="got a list; write tuple"):
        tp.sample(lambda x, data: 0.0, data=[np.zeros(2), np.zeros(3)], initial=[0.0])


@pytest.mark.parametrize("data", [np.array(["a"]), (np.zeros(2), "a"), {"a": 1.0}], ids=repr)
def test_data_not_of_numbers(data):
    with pytest.raises(
        tp.InvalidTypeError, match="data must be an array of numbers or a tuple of such arrays"
    ):
        tp.sample(edged, initial=[0.0], data=data, **TINY)


def test_data_of_ragged_rows():
    with pytest.raises(tp.TemperanceError, match="data must be"):
        tp.sample(edged, initial=[0.0], data=[[1.0], [1.0, 2.0]], **TINY)


@pytest.mark.parametrize("dtype", ["float16", "longdouble"])
def test_data_of_a_type_that_cannot_be_compiled(dtype):
    with pytest.raises(tp.InvalidTypeError, match=f"data.*{np.dtype(dtype).name}"):
        tp.sample(edged, initial=[0.0], data=np.zeros(3, dtype=dtype), **TINY)


def test_compiled_density_that_does_not_compile():
    @numba.njit
    def hopeless(x):
        return undefined_name(x)  # noqa: F821

    with pytest.raises(tp.InvalidTypeError, match=r"hopeless does not compile as a function of \(x\)"):
        tp.sample(hopeless, initial=[0.0], **TINY)


@pytest.mark.parametrize("part", ["log_prior", "log_likelihood"])
def test_whole_density_with_a_part(part):
    with pytest.raises(
        tp.InvalidInputError, match="whole log density cannot be combined with log_likelihood or log_prior"
    ):
        tp.sample(gaussian, initial=[0.0], **{part: gaussian}, **TINY)


@pytest.mark.parametrize("part", ["log_prior", "log_likelihood"])
def test_one_part_alone(part):
    with pytest.raises(tp.InvalidInputError, match=f"log_likelihood and log_prior together; got {part}"):
        tp.sample(initial=[0.0], **{part: gaussian}, **TINY)


def test_no_density():
    with pytest.raises(tp.InvalidInputError, match="together; got none of them"):
        tp.sample(initial=[0.0], **TINY)


def test_compiled_likelihood_with_plain_prior():
    with pytest.raises(tp.InvalidInputError, match=r"must both be compiled .* got compiled, plain Python"):
        tp.sample(initial=[0.0], log_likelihood=gaussian, log_prior=plain_gaussian, **TINY)


def as_model(**attributes):
    """An object that is a model, with some attributes more, others, or (None) fewer."""
    return SimpleNamespace(**{"dim": 2, "log_density": plain_gaussian, "start": np.zeros(2), **attributes})


WHOLE = {"log_density": None}
TARGET = make_target(gather(plain_gaussian), vectorized=False)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"dim": None}, "model: dim must be a whole number, got NoneType"),
        ({"dim": 0}, "model: dim must be at least 1, got 0"),
        ({"log_density": 1.0}, "model: log_density must be a function, got float"),
        ({"log_prior": gaussian}, "model: a whole log density cannot be combined with log_likelihood"),
        ({**WHOLE, "log_prior": gaussian}, "model: a target is .* together; got log_prior"),
        ({"data": np.zeros(2)}, "model: data= was given, but plain_gaussian does not take it"),
        ({"vectorized": "rows"}, "model: vectorized must be True or False, got str"),
        ({"target": TARGET}, "model: log_density cannot be given together with target, which has its own"),
        ({**WHOLE, "target": plain_gaussian}, "model: target must be a .*Target, got function"),
        ({"start": None}, "initial must be given, since plain_gaussian does not say where to start"),
        ({"start": np.zeros(3)}, "model.start must have the model's 2 coordinates, got 3"),
        ({"start": lambda rng: np.zeros(3)}, "model.start must have the model's 2 coordinates, got 3"),
        ({"start": lambda rng: np.zeros((2, 2))}, r"model.start\(generator\) must return one point"),
        ({"start": "here"}, "model.start must be numbers or a function of a generator, got 'here'"),
        ({"start": [0.0, math.inf]}, "model.start must be finite"),
        ({"start": np.zeros((3, 2))}, r"model.start must have one of the shapes \(2,\), \(2, 2\)"),
        ({"names": ["a"]}, "model: names: parameters must have 2 coordinates together, got 1"),
        ({"names": ["a", "a"]}, "model: names: parameters must have different names"),
        ({"names": ["chain", "a"]}, "model: names: the name 'chain' is taken"),
        ({"names": 7}, "model: names: parameters must be a mapping from names to shapes"),
        ({"names": {"a": (2,)}, "dims": {"b": "side"}}, "model: names: dims must be of a, got 'b'"),
        ({"dims": {"a": "side"}}, "model: dims cannot be given without names"),
        ({"coords": {"side": [1, 2]}}, "model: coords cannot be given without names"),
        ({"constrain": "exp"}, "model: constrain must be a function of rows, got str"),
        ({"constrain": lambda rows: rows}, "model: constrain: a dictionary of arrays must be returned"),
        ({"constrain": lambda rows: {}}, "model: constrain: a dictionary of arrays must be returned"),
        (
            {"constrain": lambda rows: {"a": 1.0}},
            r"constrain: a must have a row for each of 1 draws",
        ),
        ({"constrain": lambda rows: {"a": np.zeros(5)}}, r"constrain: a must have a row .* shape \(5,\)"),
        ({"constrain": lambda rows: {"a": ["x"]}}, "constrain: a must be an array of numbers"),
        (
            {"constrain": lambda rows: {1: rows}},
            "constrain: the name of .* must be a word, got 1",
        ),
        ({"constrain": lambda rows: {"draw": rows}}, "constrain: the name 'draw' is taken"),
        (
            {"names": ["a", "b"], "constrain": lambda rows: {"a": 1.0 + rows[:, 0]}},
            "constrain changes 'a', which is also the name of a coordinate; call .* 'log_a'",
        ),
        (
            {"names": {"a": 2}, "dims": {"a": "side"}, "constrain": lambda rows: {"side": rows}},
            "constrain returns 'side', which is the name of a dimension",
        ),
    ],
)
def test_a_model_that_does_not_fit_together(attributes, text):
    with pytest.raises(tp.TemperanceError, match=text) as info:
        tp.sample(as_model(**attributes), **TINY)
    assert isinstance(info.value, ValueError | TypeError)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"data": np.zeros(2)}, "data cannot be given together with a model, which has its own"),
        ({"log_likelihood": gaussian}, "log_likelihood cannot be given together with a model"),
        ({"log_prior": gaussian, "data": 1}, "log_prior and data cannot be given together with a model"),
        ({"vectorized": True}, "vectorized cannot be given together with a model"),
        ({"initial": np.zeros(3)}, "initial must have the model's 2 coordinates, got 3"),
        ({"initial": [[0.0], [1.0]]}, "initial must have the model's 2 coordinates, got 1"),
    ],
)
def test_a_model_together_with_what_it_has(options, text):
    with pytest.raises(tp.InvalidInputError, match=text):
        tp.sample(as_model(), **options, **TINY)


@pytest.mark.parametrize("thing", [np.zeros(3), "gaussian", 7, SimpleNamespace(dim=2), tp.zoo], ids=repr)
def test_what_is_no_model_gets_the_kinds_that_are(thing):
    with pytest.raises(tp.InvalidTypeError, match=r"model must be a log density .* or an object with dim"):
        tp.sample(thing, initial=[0.0], **TINY)


def test_a_density_without_a_start():
    with pytest.raises(tp.InvalidInputError, match="initial must be given, since plain_gaussian"):
        tp.sample(plain_gaussian, **TINY)


def test_constrain_that_raises_before_the_run():
    def constrain(rows):
        raise ValueError("not today")  # constrained here

    with pytest.raises(tp.RunError, match="model: constrain raised an error, ValueError: not today") as info:
        tp.sample(as_model(constrain=constrain), **TINY)
    assert_shows_the_line(info.value, "constrained here")
    assert info.value.result is None


@pytest.mark.parametrize(
    ("later", "text"),
    [
        (lambda rows: 1 / 0, "model: constrain raised an error, ZeroDivisionError: division by zero"),
        (
            lambda rows: {"b": rows},
            r"must return \{'a': \(2,\)\} for all draws, got \{'b': \(2,\)\}",
        ),
        (lambda rows: {"a": rows[:, 0]}, r"for all draws, got \{'a': \(\)\}"),
    ],
    ids=["raises", "another name", "another shape"],
)
def test_constrain_that_fails_after_the_run_loses_no_draw(later, text):
    """Broken: an error of the last step, with which hours of draws are gone."""

    def constrain(rows):
        return {"a": rows} if len(rows) == 1 else later(rows)

    with pytest.raises(tp.RunError, match=text) as info:
        tp.sample(as_model(constrain=constrain), **TINY)
    assert info.value.result.complete
    assert np.array_equal(info.value.result.draws, run_plain().draws)


def test_a_ctrl_c_in_constrain_loses_no_draw():
    def constrain(rows):
        if len(rows) > 1:
            raise KeyboardInterrupt
        return {"a": rows}

    with pytest.raises(KeyboardInterrupt) as info:
        tp.sample(as_model(constrain=constrain), **TINY)
    assert np.array_equal(info.value.result.draws, run_plain().draws)


def test_hot_levels_that_were_not_kept():
    with pytest.raises(tp.InvalidInputError, match="sample with keep="):
        run_plain().level_draws  # noqa: B018


def test_the_compiler_switched_off_is_refused_by_the_name_of_the_variable(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(tp.InvalidInputError, match="NUMBA_DISABLE_JIT is set in the environment"):
        run_plain()
