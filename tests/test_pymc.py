"""Models of PyMC: the same density in its parts, and values as PyMC has them."""

import logging
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

pm = pytest.importorskip("pymc", reason="PyMC is not installed here; test_frontends.py has it")

import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.ops import as_op  # noqa: E402

import temperance as tp  # noqa: E402
from mixture import DATA, POINTS, naive_likelihood, naive_prior  # noqa: E402
from temperance.models.frontends import pymc as frontend  # noqa: E402
from temperance.models.read import model_spec  # noqa: E402

TINY = {"draws": 60, "tune": 60, "chains": 2, "levels": 3, "seed": 5, "progress": False}

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def mixture(data=DATA):
    """Two normals with the same weights whatever their order, and a potential."""
    with pm.Model(coords={"part": ["left", "right"], "count": [1, 2, 3]}) as model:
        values = pm.Data("values", data)
        share = pm.Uniform("share", 0, 1)
        place = pm.Normal("place", 0, 3, dims="part")
        scale = pm.HalfNormal("scale", 2, dims="part")
        pm.Deterministic("gap", place[1] - place[0])
        pm.Deterministic("times", share * np.arange(3), dims="count")
        pm.Deterministic("fixed", pt.as_tensor(np.array([4.0, 5.0])))
        weights = pm.math.stack([share, 1 - share])
        pm.NormalMixture("observed", w=weights, mu=place, sigma=scale, observed=values)
        pm.Potential("together", -0.1 * pm.math.sum(place) ** 2)
    return model


@pytest.fixture(scope="module")
def model():
    return mixture()


@pytest.fixture(scope="module")
def translated(model):
    return frontend.translated(model)


@pytest.fixture(scope="module")
def result(model):
    return tp.sample(model, **TINY)


def parts(translated):
    return [[float(part(z, translated._graph.data)) for part in translated._parts] for z in POINTS]


def test_both_parts_are_those_of_the_definition(translated):
    """Broken: a potential in the prior, or none; a Jacobian in the likelihood."""
    expected = [[naive_likelihood(z), naive_prior(z)] for z in POINTS]
    np.testing.assert_allclose(parts(translated), expected, rtol=1e-6)


def test_parts_that_are_not_all_of_the_model_are_refused():
    """Broken: the split that forgets potentials."""
    model = mixture()
    whole = model.logp

    def forgetful(vars=None):  # noqa: A002  as PyMC calls it
        return whole() if vars is None else whole(vars=[one for one in vars if one not in model.potentials])

    model.logp = forgetful
    with pytest.raises(tp.InvalidInputError, match=r"do not sum to its log density, -\d"):
        tp.sample(model, **TINY)


@pytest.mark.parametrize(
    "far", [np.full(5, 800.0), np.full(5, -800.0), np.full(5, np.inf), np.full(5, np.nan)]
)
def test_far_away_the_density_vanishes_and_nothing_is_raised(translated, far):
    values = [float(part(far, translated._graph.data)) for part in translated._parts]
    assert sum(values) == -np.inf


def test_values_are_those_of_pymc(model, translated):
    ours = translated.constrain(POINTS)
    theirs = model.compile_fn(model.unobserved_value_vars, inputs=model.value_vars, mode="FAST_COMPILE")
    names = [variable.name for variable in model.unobserved_value_vars]
    for k, z in enumerate(POINTS):
        made = dict(
            zip(names, theirs({"share_interval__": z[0], "place": z[1:3], "scale_log__": z[3:]}), strict=True)
        )
        for name, value in ours.items():
            np.testing.assert_allclose(value[k], made[name], rtol=1e-12)
    assert list(ours) == ["share", "place", "scale", "gap", "times", "fixed"]


def test_logarithms_of_small_numbers_stay_finite():
    """As PyMC's own compiled functions have them. Broken: PyTensor's FAST_COMPILE, which does not rewrite."""
    y = np.concatenate([np.linspace(3.8, 4.2, 30), np.linspace(8.8, 9.2, 20)])
    with pm.Model() as model:
        x = pm.Normal("x")
        weights, places = pm.Dirichlet("w", [2, 2]), pm.Normal("mu", 6, 4, shape=2)
        pm.NormalMixture("y", weights, places, pm.HalfNormal("s", 0.1, shape=2), observed=y)
        pm.Deterministic("small", pm.math.logsumexp(pm.math.stack([-800 - x, -900 + x])))
        pm.Deterministic("tail", pm.math.log(1 - pm.math.sigmoid(20 * x)))
    result = tp.sample(model, draws=20, tune=20, chains=1, levels=2, seed=1, progress=False)
    x = result["x"]
    np.testing.assert_allclose(result["small"], np.logaddexp(-800 - x, -900 + x), rtol=1e-12)
    np.testing.assert_allclose(result["tail"], -np.logaddexp(0.0, 20 * x), rtol=1e-9)


def test_rows_beyond_a_block_are_in_their_places(translated, monkeypatch):
    whole = translated.constrain(POINTS)
    monkeypatch.setattr(frontend, "ROWS", 4)
    for name, value in translated.constrain(POINTS).items():
        np.testing.assert_array_equal(value, whole[name])


def test_a_result_has_names_dims_and_coords(result):
    assert result.parameters.labels == ["share", "place[left]", "place[right]", "scale[left]", "scale[right]"]
    posterior = result.to_datatree()["posterior"]
    assert posterior["place"].dims == ("chain", "draw", "part")
    assert posterior["times"].dims == ("chain", "draw", "count")
    assert list(posterior["count"].values) == [1, 2, 3]
    assert list(posterior["part"].values) == ["left", "right"]
    np.testing.assert_allclose(result["gap"], result["place"][..., 1] - result["place"][..., 0])


def test_a_saved_result_keeps_them(result, tmp_path):
    again = tp.load(result.save(tmp_path / "run.npz"))
    assert again.to_datatree()["posterior"]["times"].dims == ("chain", "draw", "count")


def test_other_data_compile_nothing(model):
    before = model_spec(model).target
    pm.set_data({"values": DATA[:7]}, model=model)
    try:
        after = model_spec(model).target
        assert after._evaluate is before._evaluate
        value = frontend.translated(model)._parts[0](POINTS[0], frontend.translated(model)._graph.data)
        np.testing.assert_allclose(value, naive_likelihood(POINTS[0], DATA[:7]), rtol=1e-6)
    finally:
        pm.set_data({"values": DATA}, model=model)


def test_starts_in_the_terms_of_the_model(translated):
    complete = {"share": 0.3, "place": [1.0, 2.0], "scale": [0.5, 3.0]}
    point = translated.unconstrain(complete)
    np.testing.assert_allclose(point, [math.log(0.3 / 0.7), 1, 2, math.log(0.5), math.log(3)])
    np.testing.assert_allclose(translated.unconstrain([0.3, 1, 2, 0.5, 3]), point)
    some = translated.unconstrain({"place": [1.0, 2.0]})(np.random.default_rng(0))
    assert list(some[1:3]) == [1.0, 2.0]
    assert some[0] != translated.unconstrain({"place": [1.0, 2.0]})(np.random.default_rng(1))[0]
    function = translated.unconstrain(lambda generator: {"share": generator.uniform()})
    assert function(np.random.default_rng(0)).shape == (5,)


WRONG_STARTS = {
    "unknown": ({"weight": 1.0}, "initial has 'weight', and the variables are share, place, scale"),
    "shape": ({"place": 1.0}, r"initial: place must have shape \(2,\), got \(\)"),
    "support": ({"share": 1.5, "place": [0, 0], "scale": [1, 1]}, "within the support of the model"),
    "vector": ([1.0, 2.0], r"a vector of their 5 values; got shape \(2,\)"),
}


@pytest.mark.parametrize("name", WRONG_STARTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wrong_starts(translated, name):
    given, message = WRONG_STARTS[name]
    with pytest.raises(tp.InvalidInputError, match=message):
        translated.unconstrain(given)


def test_starts_are_draws_of_the_prior(translated):
    generator = np.random.default_rng(0)
    places = np.array([translated.start(generator)[1] for _ in range(200)])
    assert stats.kstest(places, stats.norm(0, 3).cdf).pvalue > 1e-4


def test_the_sampler_returns_what_pymc_does(model):
    one = tp.pymc.sampler(levels=3)
    with model:
        data = one(
            draws=60,
            tune=60,
            chains=2,
            random_seed=5,
            progressbar=False,
            var_names=["place", "scale", "share"],
        )
    assert set(data.posterior.data_vars) == {"place", "scale", "share"}
    np.testing.assert_array_equal(data.posterior["place"], tp.sample(model, **TINY)["place"])
    np.testing.assert_array_equal(data.observed_data["observed"], DATA)
    with model, pytest.warns(UserWarning, match="effect of Potentials"):
        predicted = pm.sample_posterior_predictive(data, random_seed=1, progressbar=False)
    assert predicted.posterior_predictive["observed"].shape == (2, 60, len(DATA))
    assert repr(one) == "temperance.pymc.sampler(levels=3, thin=1, overwrite=False)"
    with pytest.raises(tp.InvalidTypeError, match="initvals must be a dict"):
        one(model=model, initvals=[{}])


def test_the_sampler_tells_its_verdict(model, capsys, caplog):
    """With a bar always, without one only if it is bad; through ``logging`` where that is set up."""
    one, few = tp.pymc.sampler(levels=3), {"draws": 60, "tune": 60, "chains": 2, "random_seed": 5}
    data = one(model=model, progressbar=False, **few)
    told = capsys.readouterr().err
    assert data.posterior.attrs["verdict"] in " ".join(told.split())
    assert "temperance: " in told
    with caplog.at_level(logging.INFO, logger="temperance"):
        one(model=model, progressbar=False, **few)
    assert data.posterior.attrs["verdict"] in " ".join(caplog.text.split())


def test_a_good_verdict_is_told_beside_a_bar_alone(monkeypatch):
    said = []
    monkeypatch.setattr(tp.pymc, "log", said.append)
    monkeypatch.setattr(tp.pymc, "as_verdict", lambda result: "No sign of trouble.")
    tp.pymc._tell_verdict(SimpleNamespace(warnings=()), shows=False)
    assert said == []
    tp.pymc._tell_verdict(SimpleNamespace(warnings=()), shows=True)
    assert said == ["temperance: No sign of trouble."]


def test_a_model_without_data_is_tempered_as_a_whole():
    with pm.Model() as model:
        pm.Mixture("x", w=[0.5, 0.5], comp_dists=[pm.Normal.dist(-5, 1), pm.Normal.dist(5, 1)])
    spec = model_spec(model)
    assert not spec.target.has_prior
    assert (spec.dim, spec.names.labels) == (1, ["x"])
    assert np.isfinite(tp.sample(model, **TINY).log_density).all()


def test_an_improper_prior_is_known():
    with pm.Model() as model:
        centre = pm.Flat("centre")
        pm.Normal("y", centre, 1, observed=[1.0, 2.0])
    spec = model_spec(model)
    assert spec.improper == ("centre",)
    assert tp.sample(model, **TINY).chains[0].beta[-1] > 0.0


def discrete():
    with pm.Model() as model:
        pm.Poisson("k", 3)
        pm.Normal("x")
    return model


def empty():
    with pm.Model() as model:
        pm.Normal("y", 0, 1, observed=[1.0])
    return model


REFUSED = {
    "discrete": (discrete, "discrete variables, k, .* sum over them"),
    "missing and discrete": (lambda: imputed(), "discrete variables, counts_unobserved, .* sum over them"),
    "empty": (empty, "no free variables"),
    "without anything": (pm.Model, "no free variables"),
    "reserved": (lambda: named("chain"), "the name 'chain' is taken"),
}


def named(name):
    with pm.Model() as model:
        pm.Normal(name)
    return model


def imputed():
    with pm.Model() as model:
        rate = pm.HalfNormal("rate", 3)
        pm.Poisson("counts", rate, observed=np.ma.masked_array([1, 2, 3], [0, 1, 0]))
    return model


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:Data in .* contains missing")
def test_what_cannot_be_sampled_is_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(tp.InvalidInputError, match=message):
        tp.sample(make(), **TINY)


@pytest.mark.filterwarnings("ignore:Data in .* contains missing")
def test_data_that_are_missing_become_variables_as_in_pymc():
    with pm.Model() as model:
        centre = pm.Normal("centre")
        pm.Normal("y", centre, 1, observed=np.array([1.0, np.nan, 2.0]))
    result = tp.sample(model, **TINY)
    assert result.parameters.labels == ["centre", "y_unobserved[0]"]
    np.testing.assert_array_equal(result["y"][..., 1], result["y_unobserved"][..., 0])


def rooted(width):
    """A model whose log density is NaN beyond a place."""
    with pm.Model() as model:
        place = pm.Normal("place", 0, width)
        pm.Potential("root", pm.math.sqrt(1 - place))
    return model


def test_a_nan_is_told_with_its_point_or_refused():
    with pytest.raises(
        tp.DensityError, match=r"pymc_model is nan in chain 1, level \d, iteration \d+"
    ) as caught:
        tp.sample(rooted(0.4), **{**TINY, "draws": 4_000})
    assert caught.value.result is not None
    settings = tp.Settings(bad_density="reject")
    assert tp.sample(rooted(0.4), initial=[0.0], settings=settings, **TINY).complete


@pytest.mark.filterwarnings("ignore:Numba will use object mode")
def test_an_error_inside_is_told_with_its_line():
    @as_op(itypes=[pt.dscalar], otypes=[pt.dscalar])
    def picky(place):
        if place > 2.5:
            raise ValueError("too far")
        return np.array(0.0)

    with pm.Model() as model:
        pm.Potential("picky", picky(pm.Normal("place")))
    with pytest.raises(tp.DensityError, match=r"raised an error in chain .* from .*test_pymc.py:\d+"):
        tp.sample(model, initial=[0.0], **{**TINY, "draws": 4_000})


def test_functions_beside_a_model_are_refused(model):
    with pytest.raises(tp.InvalidInputError, match="data cannot be given together with a model"):
        tp.sample(model, data=DATA, **TINY)
