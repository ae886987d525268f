"""The contract of every kind of target."""

import math
from typing import NamedTuple

import numba
import numpy as np
import pytest

import temperance as tp
from densities import gaussian, two_modes
from harness import PLAIN, HandTarget, advance, make_noise, make_plan, make_run
from kinds import KINDS, form, interpreted
from temperance.core.compile import compiled_around_for
from temperance.core.state import EVALUATE_SIGNATURE, NOT_A_NUMBER, STATUS
from temperance.targets import Bound
from temperance.targets.compiled import _compiled_evaluation

TINY = {"draws": 100, "tune": 100, "chains": 2, "levels": 3, "seed": 1, "progress": False}
CENTRES = np.array([[2.0, 2.0], [-2.0, -2.0]])

each_kind = pytest.mark.parametrize("kind", KINDS)


@numba.njit
def heavy_prior(x):
    return -2.0 * np.sum(np.log1p(x**2))


@numba.njit
def half_plane_prior(x):
    return -np.inf if x[0] < 0.0 else gaussian(x)


@numba.njit
def undefined_on_the_left(x):
    return np.nan if x[0] < 0.0 else gaussian(x - 1.0)


@numba.njit
def centred(x, data):
    return -0.5 * np.sum((x - data) ** 2)


@numba.njit
def regression(x, data):
    design, response, noise = data
    total = 0.0
    for row in range(design.shape[0]):
        total -= 0.5 * ((design[row, 0] * x[0] + design[row, 1] * x[1] - response[row]) / noise[row]) ** 2
    return total


def run(kind, function, **options):
    return tp.sample(
        form(kind, function),
        **{"initial": np.zeros(2), "vectorized": kind == "vectorized", **TINY, **options},
    )


def run_parts(kind, likelihood, prior, **options):
    parts = {"log_likelihood": form(kind, likelihood), "log_prior": form(kind, prior)}
    return tp.sample(
        **parts, **{"initial": np.ones(2), "vectorized": kind == "vectorized", **TINY, **options}
    )


def assert_same_bits(one, other):
    assert np.array_equal(one.draws, other.draws)
    assert np.array_equal(one.log_density, other.log_density)
    for chain, twin in zip(one.chains, other.chains, strict=True):
        assert np.array_equal(chain.beta, twin.beta)
        assert np.array_equal(chain.covariance, twin.covariance)
        assert np.array_equal(chain.tuning.draws, twin.tuning.draws)


@pytest.mark.parametrize("kind", ["plain", "vectorized"])
def test_every_kind_gives_the_same_draws(kind):
    assert_same_bits(run(kind, two_modes), run("njit", two_modes))


@pytest.mark.parametrize("kind", ["plain", "vectorized"])
@pytest.mark.parametrize("prior", [heavy_prior, half_plane_prior], ids=["everywhere", "half"])
def test_every_kind_gives_the_same_draws_in_two_parts(kind, prior):
    likelihood = two_modes if prior is heavy_prior else undefined_on_the_left
    assert_same_bits(run_parts(kind, likelihood, prior), run_parts("njit", likelihood, prior))


@pytest.mark.parametrize("kind", ["plain", "vectorized"])
def test_every_kind_gives_the_same_draws_with_data(kind):
    data = np.array([1.0, 2.0])
    assert_same_bits(run(kind, centred, data=data), run("njit", centred, data=data))


@each_kind
def test_log_density_is_that_of_the_draws(kind):
    result = run(kind, two_modes)
    again = [[two_modes(point) for point in chain] for chain in result.draws]
    assert np.array_equal(result.log_density, again)


@each_kind
def test_log_density_is_likelihood_and_prior_together(kind):
    result = run_parts(kind, two_modes, heavy_prior)
    again = [[two_modes(point) + heavy_prior(point) for point in chain] for chain in result.draws]
    assert np.array_equal(result.log_density, again)


@each_kind
def test_two_parts_temper_the_likelihood_alone(kind):
    result = run_parts(kind, two_modes, heavy_prior)
    whole = run(kind, two_modes, initial=np.ones(2))
    assert result.chains[0].beta[-1] == 0.0
    assert whole.chains[0].beta[-1] > 0.0
    assert math.isinf(result.temperatures[0][-1])


@numba.njit
def whole_number(x):
    return -int(np.sum(np.abs(x)))


@numba.njit
def single_precision(x):
    return np.float32(gaussian(x))


@numba.njit
def array_without_axes(x):
    return np.array(gaussian(x))


@each_kind
@pytest.mark.parametrize("function", [whole_number, single_precision, array_without_axes])
def test_other_numbers_are_cast(kind, function):
    result = run(kind, function)
    again = [[float(function(point)) for point in chain] for chain in result.draws]
    assert np.array_equal(result.log_density, again)
    assert len(np.unique(result.draws)) > 10


@numba.njit
def one_element(x):
    return x[:1]


@numba.njit
def nothing(x):
    pass


@numba.njit
def complex_number(x):
    return x[0] * 1j


@numba.njit
def text(x):
    return "zero"


@numba.njit
def truth(x):
    return x[0] > 0.0


wrong_returns = pytest.mark.parametrize("function", [one_element, nothing, complex_number, text, truth])


@each_kind
@wrong_returns
def test_likelihood_and_prior_of_wrong_return_are_refused_by_name(kind, function):
    wrong, right = interpreted(kind, function), form(kind, two_modes)
    options = {"initial": np.zeros(2), "vectorized": kind == "vectorized", **TINY}
    with pytest.raises(tp.InvalidTypeError, match=rf"{function.__name__}.* must return"):
        tp.sample(log_likelihood=wrong, log_prior=right, **options)
    with pytest.raises(tp.InvalidTypeError, match=rf"{function.__name__}.* must return"):
        tp.sample(log_likelihood=right, log_prior=wrong, **options)


def test_wrong_return_midway_is_refused_by_name():
    def sometimes_nothing(x):
        return None if x[0] > 0.5 else -0.5 * float(x @ x)

    with pytest.raises(tp.DensityError, match="sometimes_nothing raised an error in chain") as info:
        tp.sample(sometimes_nothing, initial=np.zeros(2), **TINY)
    assert "sometimes_nothing must return one number, got NoneType" in str(info.value.__cause__)


class OtherArray:
    """An array of another library, as far as a density's value shows."""

    def __init__(self, value, dtype="float32"):
        self.held = np.array(value, dtype=dtype)
        self.ndim = self.held.ndim

    def __array__(self, dtype=None, copy=None):
        return np.array(self.held, dtype=dtype)

    def __float__(self):
        return float(self.held)


class WithGradient(OtherArray):
    """One that its library converts to a float and not to an array, with a dtype of the library's own."""

    dtype = "torch.float32"

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")


@pytest.mark.parametrize("kind", [np.array, OtherArray, WithGradient])
def test_arrays_without_dimensions_of_any_library_are_cast(kind):
    options = {"initial": np.zeros(2), **TINY}
    cast = tp.sample(lambda x: kind(-0.5 * float(x @ x), dtype="float32"), **options)
    twin = tp.sample(lambda x: float(np.float32(-0.5 * float(x @ x))), **options)
    np.testing.assert_array_equal(cast.draws, twin.draws)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (OtherArray(True, dtype="bool"), "OtherArray"),
        (OtherArray(1j, dtype="complex64"), "OtherArray"),
        (OtherArray("1", dtype="str"), "OtherArray"),
        (OtherArray([1.0]), r"an array of shape \(1,\)"),
        ([1.0], "list"),
        ("1", "str"),
        (1j, "complex"),
        (np.bool_(True), "bool"),
    ],
)
def test_what_is_no_real_number_is_refused(value, what):
    def density(x):
        return value

    with pytest.raises(tp.InvalidTypeError, match=rf"density must return one number, got {what}"):
        tp.sample(density, initial=np.zeros(2), **TINY)


@numba.njit
def spoiling(x):
    value = two_modes(x)
    x[:] = np.nan
    return value


@numba.njit
def spoiling_prior(x):
    value = heavy_prior(x)
    x[:] = 1e9
    return value


@each_kind
def test_a_density_may_spoil_its_argument(kind):
    assert_same_bits(run(kind, spoiling), run("njit", two_modes))


def test_a_vectorised_density_may_spoil_its_rows():
    def spoiling_rows(points):
        values = np.array([two_modes(point) for point in points])
        points[:] = np.nan
        return values

    result = tp.sample(spoiling_rows, initial=np.zeros(2), vectorized=True, **TINY)
    assert_same_bits(result, run("njit", two_modes))


@each_kind
def test_likelihood_and_prior_may_spoil_their_arguments(kind):
    assert_same_bits(run_parts(kind, spoiling, spoiling_prior), run_parts("njit", two_modes, heavy_prior))


def mixed_data(slope):
    design = np.array([[1, 0], [1, 1], [1, 2]])
    return design, slope * np.arange(3, dtype=np.float32), np.full(3, 0.5)


@each_kind
def test_data_as_a_tuple_of_mixed_arrays(kind):
    data = mixed_data(3.0)
    result = run(kind, regression, data=data)
    again = [[regression(point, data) for point in chain] for chain in result.draws]
    assert np.array_equal(result.log_density, again)


@pytest.mark.parametrize("kind", ["plain", "vectorized"])
def test_data_in_a_tuple_give_the_same_draws_on_every_path(kind):
    data = mixed_data(3.0)
    assert_same_bits(run(kind, regression, data=data), run("njit", regression, data=data))


def misses_after_new_data(function, old, new):
    first = run("njit", function, data=old)
    before = _compiled_evaluation.cache_info().misses
    second = run("njit", function, data=new)
    assert not np.array_equal(first.draws, second.draws)
    return _compiled_evaluation.cache_info().misses - before


def test_new_data_compile_nothing():
    assert misses_after_new_data(centred, np.zeros(2), np.ones(2)) == 0


def test_new_data_in_a_tuple_compile_nothing():
    assert misses_after_new_data(regression, mixed_data(1.0), mixed_data(2.0)) == 0


def test_longer_data_compile_nothing():
    longer = tuple(np.concatenate([array, array]) for array in mixed_data(2.0))
    assert misses_after_new_data(regression, mixed_data(1.0), longer) == 0


def test_data_of_another_type_are_compiled_for():
    assert misses_after_new_data(centred, np.zeros(2), np.ones(2, dtype=np.float32)) == 1


class Table(NamedTuple):
    rows: np.ndarray
    names: list[str]


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: (a, 1), lambda a: ((a,),), lambda a: Table(a, [])])
def test_plain_python_cannot_write_into_data(wrap):
    array = np.ones(2)
    given = wrap(array)

    def writing(x, data):
        assert type(data) is type(given)
        while isinstance(data, tuple):
            data = data[0]
        data += 1.0
        return 0.0

    with pytest.raises(tp.DensityError) as caught:
        tp.sample(writing, data=given, initial=np.zeros(2), **TINY)
    assert "read-only" in str(caught.value.__cause__)
    array += 1.0
    assert array.tolist() == [2.0, 2.0]


def test_plain_python_gets_any_other_object_as_it_is():
    given = {"centre": np.ones(2)}

    def density(x, data):
        assert data is given
        return -0.5 * float(np.sum((x - data["centre"]) ** 2))

    tp.sample(density, data=given, initial=np.zeros(2), **TINY)


@numba.njit
def writing_into_data(x, data):
    for i in range(len(data)):
        data[i] += 1.0
    return gaussian(x)


def test_compiled_code_writes_into_a_copy_of_data():
    data = np.ones(2)
    tp.sample(writing_into_data, data=data, initial=np.zeros(2), **TINY)
    assert data.tolist() == [1.0, 1.0]


@numba.njit
def table_density(x, data):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.5 * (x[i] - data[1, i]) ** 2 + 0.25 * (x[i] - data[0, i]) ** 2
    return total


@each_kind
def test_data_that_are_not_contiguous(kind):
    columns = np.arange(12.0).reshape(2, 6)[:, ::3]
    assert not columns.flags.c_contiguous
    strided = run(kind, table_density, data=columns)
    assert_same_bits(strided, run(kind, table_density, data=np.ascontiguousarray(columns)))
    transposed = run(kind, table_density, data=np.asfortranarray(columns))
    assert_same_bits(strided, transposed)


def test_data_of_foreign_byte_order():
    native = np.array([1.0, 2.0])
    assert_same_bits(run("njit", centred, data=native.astype(">f8")), run("njit", centred, data=native))


def test_number_among_the_data():
    @numba.njit
    def shifted(x, data):
        shift, width = data
        return -0.5 * np.sum(((x - shift) / width[()]) ** 2)

    result = run("njit", shifted, data=(np.ones(2), 2.0))
    again = [[shifted(point, (np.ones(2), np.array(2.0))) for point in chain] for chain in result.draws]
    assert np.array_equal(result.log_density, again)


def test_data_are_not_changed_by_the_run():
    data = mixed_data(1.0)
    kept = [array.copy() for array in data]
    run("njit", regression, data=data)
    assert all(np.array_equal(array, old) for array, old in zip(data, kept, strict=True))


def test_plain_python_gets_its_data_as_they_are():
    seen = []

    def looking(x, data):
        seen.append(data)
        return -0.5 * float(x @ x)

    data = {"any": "object"}
    tp.sample(looking, initial=np.zeros(2), data=data, **TINY)
    assert all(one is data for one in seen)


@each_kind
def test_only_the_likelihood_takes_data(kind):
    data = np.array([3.0, 3.0])
    result = run_parts(kind, centred, heavy_prior, data=data)
    again = [[centred(point, data) + heavy_prior(point) for point in chain] for chain in result.draws]
    assert np.array_equal(result.log_density, again)


def test_closure_over_an_array():
    def make(centre):
        @numba.njit
        def closed(x):
            return -0.5 * np.sum((x - centre) ** 2)

        return closed

    there, here = (run("njit", make(centre)) for centre in CENTRES)
    assert not np.array_equal(there.draws, here.draws)
    assert_same_bits(there, run("njit", centred, data=CENTRES[0]))


@pytest.mark.parametrize("kind", ["plain", "vectorized"])
def test_likelihood_is_not_called_where_the_prior_vanishes(kind):
    seen = []

    def likelihood(x):
        seen.append(np.array(x))
        return -np.sum((x - 1.0) ** 2, axis=-1)

    def prior(x):
        return np.where(x[..., 0] < 0.0, -np.inf, -0.5 * np.sum(x**2, axis=-1))

    options = {"initial": np.ones(2), "vectorized": kind == "vectorized", **TINY}
    tp.sample(log_likelihood=likelihood, log_prior=prior, **options)
    points = np.concatenate([np.atleast_2d(one) for one in seen])
    assert len(points) > 100
    assert np.all(points[:, 0] >= 0.0)


def test_compiled_likelihood_is_not_called_where_the_prior_vanishes():
    @numba.njit
    def raising_on_the_left(x):
        if x[0] < 0.0:
            raise ValueError("called")
        return -np.sum((x - 1.0) ** 2)

    result = run_parts("njit", raising_on_the_left, half_plane_prior)
    assert result.complete
    assert np.all(result.draws[:, :, 0] >= 0.0)


@pytest.mark.parametrize("signature", ["float64(float64[::1])", "float64(float64[:])"])
def test_compiled_density_with_a_signature(signature):
    @numba.njit(signature)
    def signed(x):
        return two_modes(x)

    assert_same_bits(run("njit", signed), run("njit", two_modes))


def test_an_object_with_a_call_method_is_a_density():
    class Density:
        def __call__(self, x):
            return two_modes(x)

    assert_same_bits(tp.sample(Density(), initial=np.zeros(2), **TINY), run("njit", two_modes))


def test_vectorised_density_sees_all_live_levels_at_once():
    shapes = set()

    def rows(points):
        shapes.add(points.shape)
        return -0.5 * np.sum(points**2, axis=1)

    tp.sample(rows, initial=np.zeros(2), vectorized=True, settings=PLAIN, preflight=False, **TINY)
    assert shapes == {(3, 2)}
    tp.sample(rows, initial=np.zeros(2), vectorized=True, **TINY)
    assert shapes >= {(3, 2), (1, 2)}, "all levels, and a base level that moves while the others rest"
    assert max(shapes) == (3, 2), "scouts walk side by side, as many as there are levels"


def test_vectorised_density_of_wrong_length_is_refused_by_name():
    def one_value(points):
        return -0.5 * np.sum(points**2)

    with pytest.raises(tp.InvalidTypeError, match=r"one_value is vectorised .* shape \(3,\); got shape \(\)"):
        tp.sample(one_value, initial=np.zeros(2), vectorized=True, **TINY)


@numba.njit
def undefined_now_and_then(x):
    return np.nan if np.sin(40.0 * x[0]) > 0.7 else gaussian(x)


@numba.njit
def prior_undefined_now_and_then(x):
    return np.nan if np.cos(30.0 * x[1]) > 0.8 else gaussian(x)


@pytest.mark.parametrize("prior", [None, half_plane_prior, prior_undefined_now_and_then])
def test_refused_points_leave_nothing_behind_whatever_the_kind(prior):
    """All kinds reject a NaN alike: had one of them left the refusal in a buffer, a level would freeze."""
    results = []
    for kind in KINDS:
        parts = {"model": form(kind, undefined_now_and_then)}
        if prior is not None:
            parts = {"log_likelihood": parts["model"], "log_prior": form(kind, prior)}
        results.append(
            tp.sample(
                **parts,
                initial=[0.6, 0.25],
                vectorized=kind == "vectorized",
                settings=tp.Settings(bad_density="reject"),
                **(TINY | {"draws": 800, "tune": 300, "chains": 1}),
            )
        )
    for result in results:
        np.testing.assert_array_equal(result.draws, results[0].draws)
        assert result.chains[0].n_bad_density == results[0].chains[0].n_bad_density > 100
        assert len(np.unique(result.draws[0, :, 0])) > 200


class Forgetful:
    """A target that leaves rows as they are."""

    name, has_prior, runs_in_parallel = "forgetful", False, True

    def bind(self, buffers):
        return Bound(_do_nothing(), 0)


def _do_nothing():
    @compiled_around_for(EVALUATE_SIGNATURE)
    def evaluate(context, proposal, n_points, log_density, log_prior, gradient, scratch, control):
        pass

    return evaluate


def test_a_row_that_a_target_forgets_is_not_what_stood_there_before(rng):
    run = make_run(make_plan(HandTarget(two_modes), [1.0, 0.5], 2))
    forgetful = Forgetful().bind(run._buffers)
    run.info.log_density[:], run.info.log_prior[:] = 7.0, -np.inf
    forgetful.fill(run._buffers)
    assert np.all(np.isnan(run.info.log_density))
    assert np.all(run.info.log_prior == 0.0)
    run._bound = forgetful
    advance(run, make_noise(rng, 1, 2, 2), adapting=False)
    assert run.control[STATUS] == NOT_A_NUMBER


@pytest.mark.parametrize("sampled_first", [True, False])
@pytest.mark.parametrize("with_data", [True, False])
def test_a_compiled_density_divides_as_its_author_compiled_it(sampled_first, with_data):
    """A division by zero raises in the run and in the author's own calls, whichever came first."""

    @numba.njit
    def divides(x):
        steps = 0 if x[0] > 1.5 else 1
        return gaussian(x) + 1 / steps

    @numba.njit
    def divides_data(x, data):
        return divides(x) + 0.0 * data[0]

    density, data = (divides_data, (np.zeros(1),)) if with_data else (divides, None)
    arguments = () if data is None else (data[0],)
    bad = np.array([2.0, 0.0])
    if not sampled_first:
        with pytest.raises(ZeroDivisionError):
            density(bad, *arguments)
    with pytest.raises(tp.DensityError) as raised:
        tp.sample(density, initial=np.zeros(2), data=None if data is None else data[0], **TINY)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        density(bad, *arguments)


def test_a_function_that_the_loop_takes_is_looked_up_once() -> None:
    """With the types of its arguments numba would look for it in every block."""
    evaluate = _compiled_evaluation(heavy_prior, None, None)
    code = evaluate.get_compile_result(None)
    assert code is evaluate.get_compile_result(None)
    assert code.signature.args == EVALUATE_SIGNATURE.args
