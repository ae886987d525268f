"""Functions of JAX, and models of NumPyro: the same density in its parts, and values as NumPyro has them."""

import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

jax = pytest.importorskip("jax", reason="JAX is not installed here; test_frontends.py has it")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from numpyro.infer.util import constrain_fn  # noqa: E402

import temperance as tp  # noqa: E402
from mixture import DATA, POINTS, naive_likelihood, naive_prior  # noqa: E402
from temperance.models.read import model_spec  # noqa: E402

TINY = {"draws": 60, "tune": 60, "chains": 2, "levels": 3, "seed": 5, "progress": False}
CENTRES = np.array([[2.0, 2.0], [-2.0, -2.0]])

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@jax.jit
def two_modes(x):
    return jax.nn.logsumexp(-0.5 * jnp.sum((x - CENTRES) ** 2, axis=1))


@jax.jit
def shifted(x, data):
    return -0.5 * jnp.sum((x - data) ** 2)


@jax.jit
def wide(x):
    return -0.05 * jnp.sum(x**2)


# ---- functions


def values_of(spec, points):
    """What a target says of points: the tempered part and the prior."""
    target = spec.target
    prior = np.zeros(len(points)) if target._prior is None else target._prior(points)
    return np.asarray(target._tempered(points)), np.asarray(prior)


def test_a_function_of_jax_is_evaluated_for_all_levels_at_once():
    """Broken: padding that reaches the caller, or rows in another order."""
    for n in range(1, 6):
        points = np.random.default_rng(n).normal(size=(n, 2))
        came, _ = values_of(model_spec(two_modes), points)
        np.testing.assert_allclose(came, [float(two_modes(point)) for point in points], rtol=1e-13)


def test_few_batches_are_compiled():
    n_traces = []

    @jax.jit
    def counted(x):
        n_traces.append(x.shape)
        return -0.5 * jnp.sum(x**2)

    target = model_spec(counted).target
    for n in range(1, 9):
        target._tempered(np.zeros((n, 2)))
    assert len(n_traces) == 1  # of one point, whatever the batch


def test_runs_of_functions_in_all_ways():
    starts = {"initial": np.zeros(2), **TINY}
    whole = tp.sample(two_modes, **starts)
    again = [float(two_modes(point)) for point in whole.draws[0]]
    np.testing.assert_allclose(whole.log_density[0], again, rtol=1e-13)
    data = np.array([1.0, 2.0])
    result = tp.sample(log_likelihood=shifted, log_prior=wide, data=data, **starts)
    again = [float(shifted(point, data) + wide(point)) for point in result.draws[0]]
    np.testing.assert_allclose(result.log_density[0], again, rtol=1e-13)


def test_other_data_of_a_function_compile_nothing():
    n_traces = []

    @jax.jit
    def counted(x, data):
        n_traces.append(1)
        return shifted(x, data)

    for centre in (1.0, 2.0):
        data = np.full(2, centre)
        came, _ = values_of(model_spec(counted, data=data), np.ones((3, 2)))
        np.testing.assert_allclose(came, float(shifted(np.ones(2), data)), rtol=1e-13)
    assert len(n_traces) == 1


@jax.jit
def of_parameters(p, data):
    return -0.5 * jnp.sum((data - p["place"]) ** 2 / p["scale"] ** 2) - data.shape[0] * jnp.log(p["scale"])


def test_a_likelihood_of_jax_with_priors_of_ours():
    priors = {"place": tp.priors.normal(0, 5), "scale": tp.priors.half_normal(3)}
    one = tp.sample(tp.Model(of_parameters, parameters=priors, data=DATA), **TINY)

    def plain(p, data):
        return float(of_parameters(p, data))

    two = tp.sample(tp.Model(plain, parameters=priors, data=DATA), **TINY)
    np.testing.assert_allclose(one["scale"], two["scale"], rtol=1e-9)


def test_float32_is_refused_with_the_line_that_helps():
    script = (
        "import jax, temperance as tp\n"
        "try: tp.sample(jax.jit(lambda x: -x @ x), initial=[0.0])\n"
        "except tp.InvalidInputError as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert 'write jax.config.update("jax_enable_x64", True) before any array is made' in shown


def test_parts_of_two_kinds_are_refused():
    with pytest.raises(
        tp.InvalidInputError, match=r"must both be functions of JAX, .* got JAX, plain Python"
    ):
        tp.sample(log_likelihood=two_modes, log_prior=lambda x: 0.0, initial=np.zeros(2), **TINY)


def test_an_error_inside_is_told_with_its_line():
    def density(x):
        raise ValueError("no")

    with pytest.raises(tp.DensityError, match=r"raised an error at the start .*test_jax.py:\d+"):
        tp.sample(jax.jit(density), initial=np.zeros(2), **TINY)


# ---- models of NumPyro


def mixture(data):
    share = numpyro.sample("share", dist.Uniform(0, 1))
    place = numpyro.sample("place", dist.Normal(0, 3).expand([2]).to_event(1))
    scale = numpyro.sample("scale", dist.HalfNormal(2).expand([2]))
    numpyro.deterministic("gap", place[1] - place[0])
    weights = dist.Categorical(jnp.stack([share, 1 - share]))
    with numpyro.plate("each", len(data)):
        numpyro.sample("values", dist.MixtureSameFamily(weights, dist.Normal(place, scale)), obs=data)
    numpyro.factor("together", -0.1 * jnp.sum(place) ** 2)


@pytest.fixture(scope="module")
def model():
    return tp.numpyro.model(mixture, (DATA,), dims={"place": ["part"]}, coords={"part": ["left", "right"]})


def test_both_parts_are_those_of_the_definition(model):
    """Broken: a factor in the prior; a Jacobian in the likelihood; what was kept for other points."""
    spec = model.spec()
    for points in (POINTS, POINTS[:3] + 1.0):
        _, prior = values_of(spec, points)
        likelihood = spec.target._tempered(points)
        np.testing.assert_allclose(prior, [naive_prior(z) for z in points], rtol=1e-6)
        np.testing.assert_allclose(likelihood, [naive_likelihood(z) for z in points], rtol=1e-6)
    np.testing.assert_allclose(spec.target._tempered(POINTS[2:3]), [naive_likelihood(POINTS[2])], rtol=1e-6)


def test_parts_that_are_not_all_of_the_model_are_refused():
    """Broken: the split that forgets factors."""
    model = tp.numpyro.model(mixture, (DATA,))
    util = model._util

    def forgetful(*arguments):
        by_site, trace = util.compute_log_probs(*arguments)
        return {name: value for name, value in by_site.items() if name != "together"}, trace

    model._util = SimpleNamespace(**{**vars(util), "compute_log_probs": forgetful})
    with pytest.raises(tp.InvalidInputError, match=r"the prior of mixture, .* do not sum to its log density"):
        tp.sample(model, **TINY)


def test_other_arguments_compile_nothing_if_they_are_asked_to():
    """Broken: a model that goes on with the arrays of before, or that is compiled for their numbers."""
    n_traces = []

    def counted(data, n):
        n_traces.append(n)
        mixture(data)

    one = tp.numpyro.model(counted, (DATA, 1), jit_model_args=True)
    one.spec().target._tempered(POINTS)
    n_traces.clear()
    other = one.with_args(DATA + 1.0, 1)
    np.testing.assert_allclose(
        other._over_rows(other._parts_of)(POINTS)[0],
        [naive_likelihood(z, DATA + 1.0) for z in POINTS],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        one._over_rows(one._parts_of)(POINTS)[0], [naive_likelihood(z) for z in POINTS], rtol=1e-6
    )
    assert not n_traces
    for arguments in ((DATA[:9], 1), (DATA, 2)):  # another shape, and another constant
        n_traces.clear()
        shown = one.with_args(*arguments).spec().target._tempered(POINTS[:1])
        np.testing.assert_allclose(shown, naive_likelihood(POINTS[0], arguments[0]), rtol=1e-6)
        assert n_traces


def test_other_arguments_are_constants_unless_they_are_asked_to_be_more(model):
    other = model.with_args(DATA[:9])
    np.testing.assert_allclose(
        other.spec().target._tempered(POINTS[:1]), naive_likelihood(POINTS[0], DATA[:9]), rtol=1e-6
    )
    assert other.values == model.values


def test_values_names_and_starts(model):
    result = tp.sample(model, **TINY)
    assert result.parameters.labels == ["share", "place[left]", "place[right]", "scale[0]", "scale[1]"]
    theirs = constrain_fn(
        mixture,
        (DATA,),
        {},
        {name: jnp.array(value) for name, value in model._shapes.split(result.draws[1, 7]).items()},
        return_deterministic=True,
    )
    for name, value in result.values.items():
        np.testing.assert_allclose(value[1, 7], theirs[name], rtol=1e-12)
    assert list(result.values) == ["share", "place", "scale", "gap"]
    started = model.spec().unconstrain({"share": 0.3, "place": [1.0, 2.0], "scale": [0.5, 3.0]})
    np.testing.assert_allclose(started, [math.log(0.3 / 0.7), 1, 2, math.log(0.5), math.log(3)])
    some = model.spec().unconstrain({"place": [1.0, 2.0]})(np.random.default_rng(0))
    assert list(some[1:3]) == [1.0, 2.0]


def test_starts_are_draws_of_the_prior(model):
    generator = np.random.default_rng(0)
    places = np.array([model.start(generator)[1] for _ in range(200)])
    assert stats.kstest(places, stats.norm(0, 3).cdf).pvalue > 1e-4


def free(data):
    centre = numpyro.sample("centre", dist.ImproperUniform(dist.constraints.real, (), ()))
    shares = numpyro.sample("shares", dist.Dirichlet(jnp.ones(3)))
    numpyro.sample("y", dist.Normal(centre + shares[0], 1), obs=data)


def test_an_improper_prior_is_known_and_a_simplex_has_fewer_coordinates():
    model = tp.numpyro.model(free, (jnp.array([1.0, 2.0]),))
    spec = model.spec()
    assert (spec.improper, spec.dim, spec.value_names.size) == (("centre",), 3, 4)
    result = tp.sample(model, **TINY)
    assert result.chains[0].beta[-1] > 0.0
    np.testing.assert_allclose(result["shares"].sum(axis=-1), 1.0)


def rooted(data):
    place = numpyro.sample("place", dist.Normal(0, 0.4))
    numpyro.factor("root", jnp.sqrt(1 - place))
    numpyro.sample("y", dist.Normal(place, 1), obs=data)


def failing(data):
    numpyro.sample("place", dist.Normal())
    raise KeyError("weights")


def test_a_nan_of_a_model_is_told_with_its_point_or_refused():
    model = tp.numpyro.model(rooted, (1.0,))
    with pytest.raises(tp.DensityError, match=r"rooted is nan in chain 1, level \d, iteration \d+") as caught:
        tp.sample(model, initial=[0.0], **{**TINY, "draws": 4_000})
    assert caught.value.result is not None
    settings = tp.Settings(bad_density="reject")
    assert tp.sample(model, initial=[0.0], settings=settings, **TINY).complete


def test_an_error_in_a_model_and_arguments_that_are_missing_are_told_as_they_are():
    with pytest.raises(KeyError, match="weights") as caught:
        tp.numpyro.model(failing, (1.0,))
    assert caught.traceback[-1].name == "failing"
    with pytest.raises(TypeError, match=r"mixture\(\) missing 1 required positional argument: 'data'"):
        tp.numpyro.model(mixture)


def without_data():
    numpyro.sample("x", dist.StudentT(3))


def discrete():
    numpyro.sample("k", dist.Poisson(3))


def nothing():
    numpyro.sample("y", dist.Normal(), obs=1.0)


def test_a_model_without_data_is_tempered_as_a_whole():
    spec = tp.numpyro.model(without_data).spec()
    assert not spec.target.has_prior
    np.testing.assert_allclose(spec.target._tempered(np.array([[1.5]])), stats.t(3).logpdf([1.5]))


@pytest.mark.parametrize(
    ("function", "message"),
    [(discrete, "discrete latent sites, k, .* sum over them"), (nothing, "no latent sites")],
)
def test_what_cannot_be_sampled_is_refused(function, message):
    with pytest.raises(tp.InvalidInputError, match=message):
        tp.numpyro.model(function)
    with pytest.raises(tp.InvalidTypeError, match="model must be a function, got int"):
        tp.numpyro.model(3)
