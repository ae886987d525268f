"""A user's problem: named parameters with priors, bounds, angles, derived quantities, in the user's units."""

import ctypes
import math
import warnings
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

import temperance as tp
from judge import judge_means
from kinds import KINDS

SHORT = {"draws": 60, "tune": 80, "chains": 2, "levels": 3, "seed": 5, "progress": False}
PARAMETERS = {
    "mu": tp.priors.normal(0, 10),
    "sigma": tp.priors.half_normal(5),
    "weights": tp.priors.dirichlet(3),
    "effect": tp.priors.normal(0, 1, shape=(2, 2)),
    "phase": tp.priors.angle(),
}
DATA = np.random.default_rng(1).normal(3.0, 2.0, size=20)
at = tp.offsets(PARAMETERS)


def of_dict(p: dict[str, Any], y: np.ndarray) -> float:
    misfit = -0.5 * np.sum((y - p["mu"]) ** 2) / p["sigma"] ** 2 - len(y) * math.log(p["sigma"])
    return misfit + math.log(p["weights"][0]) - np.sum(p["effect"] ** 2) + math.cos(p["phase"])


def of_vector(x: np.ndarray, y: np.ndarray) -> float:
    misfit = -0.5 * np.sum((y - x[0]) ** 2) / x[1] ** 2 - len(y) * math.log(x[1])
    return misfit + math.log(x[2]) - np.sum(x[5:9] ** 2) + math.cos(x[9])


@numba.njit
def compiled(x, y):
    misfit = 0.0
    for i in range(y.shape[0]):
        misfit -= 0.5 * (y[i] - x[at.mu]) ** 2 / x[at.sigma] ** 2
    misfit -= y.shape[0] * math.log(x[at.sigma])
    return misfit + math.log(x[at.weights][0]) - np.sum(x[at.effect] ** 2) + math.cos(x[at.phase])


def of_rows(p: dict[str, Any], y: np.ndarray) -> np.ndarray:
    misfit = -0.5 * np.sum((y - p["mu"][:, None]) ** 2, axis=1) / p["sigma"] ** 2 - len(y) * np.log(
        p["sigma"]
    )
    return misfit + np.log(p["weights"][:, 0]) - np.sum(p["effect"] ** 2, axis=(1, 2)) + np.cos(p["phase"])


FORMS = {
    "dict": (of_dict, {}),
    "vector": (of_vector, {"vector": True}),
    "rows": (of_rows, {"vectorized": True}),
    "rows of vectors": (
        lambda x, y: np.array([of_vector(row, y) for row in x]),
        {"vectorized": True, "vector": True},
    ),
    "njit": (compiled, {}),
}


def model_of(form: str, **more: Any) -> tp.Model:
    function, options = FORMS[form]
    return tp.Model(function, parameters=PARAMETERS, data=DATA, **{**options, **more})


@pytest.fixture(scope="module")
def by_dict() -> tp.Result:
    return tp.sample(
        model_of("dict", derived=lambda p: {"ratio": p["mu"] / p["sigma"], "twice": 2 * p["effect"]}), **SHORT
    )


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_see_the_same_parameters(form: str, by_dict: tp.Result):
    """The same draws but for rounding; a misplaced parameter would change the first accepted move."""
    assert set(KINDS) == {"plain", "vectorized", "njit"}  # each has a form above
    result = tp.sample(model_of(form), **SHORT)
    assert result.draws.shape == by_dict.draws.shape == (2, 60, 10)
    for name in PARAMETERS:
        assert result[name][:, :5] == pytest.approx(by_dict[name][:, :5], rel=1e-6)


def test_values_are_in_the_users_units(by_dict: tp.Result):
    assert by_dict["mu"].shape == (2, 60)
    assert by_dict["weights"].shape == (2, 60, 3)
    assert by_dict["weights"].sum(axis=2) == pytest.approx(np.ones((2, 60)))
    assert by_dict["effect"].shape == (2, 60, 2, 2)
    assert np.all(by_dict["sigma"] > 0)
    assert np.all((by_dict["phase"] >= 0) & (by_dict["phase"] < 2 * math.pi))
    assert list(by_dict.values) == [*PARAMETERS, "ratio", "twice"]
    with pytest.raises(tp.InvalidInputError, match="name must be one of mu, sigma"):
        by_dict["nu"]


def test_derived_quantities_are_computed_and_exported(by_dict: tp.Result, tmp_path):
    assert by_dict.derived == ["ratio", "twice"]
    assert np.array_equal(by_dict["ratio"], by_dict["mu"] / by_dict["sigma"])
    assert np.array_equal(by_dict["twice"], 2 * by_dict["effect"])
    labels = by_dict.summary().parameters.columns["parameter"]
    assert labels[:2] == ["mu", "sigma"]
    assert labels[-5:] == ["ratio", "twice[0, 0]", "twice[0, 1]", "twice[1, 0]", "twice[1, 1]"]
    loaded = tp.load(by_dict.save(tmp_path / "run"))
    assert np.array_equal(loaded["ratio"], by_dict["ratio"])
    assert loaded.parameters == by_dict.parameters
    assert loaded.derived == by_dict.derived
    assert str(loaded) == str(by_dict)


KEPT = ("draws", "statistics", "proposals", "levels")
EVERY_MAP = {
    **PARAMETERS,
    "rate": tp.priors.truncated(tp.priors.gamma(2, 1), 0.1, 5.0),
    "steps": tp.priors.ordered(tp.priors.log_normal(0, 1), 3),
    "joint": tp.priors.multivariate_normal([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]]),
    "box": tp.priors.log_uniform(1, [10.0, 1e6]),
    "own": tp.priors.custom(lambda x: -x, 0, draw=lambda generator, shape: generator.exponential(size=shape)),
}


def _of_every_map(p: dict[str, Any]) -> float:
    return -sum(float(np.sum(np.cos(value))) for value in p.values())


def _first_and_last(p: dict[str, Any]) -> dict[str, Any]:
    return {"both": np.array([p["steps"][0], p["steps"][-1]])}


def test_a_folder_is_read_in_the_users_units(tmp_path):
    """Bit for bit, without the model and with it; broken: the coordinates, or a map of another kind."""
    dims = {"dims": {"steps": "step"}, "coords": {"step": ["low", "mid", "high"]}}
    model = tp.Model(_of_every_map, parameters=EVERY_MAP, derived=_first_and_last, **dims)
    written = tp.sample(model, **SHORT, keep=KEPT, store=tmp_path / "run")
    alone, told = tp.load(tmp_path / "run"), tp.load(tmp_path / "run", model)
    assert written.derived == told.derived == ["both"]
    assert alone.derived == []
    assert alone.parameters == written.parameters == told.parameters
    for name in EVERY_MAP:
        assert np.array_equal(alone[name], written[name]), name
    assert np.array_equal(told["both"], written["both"])
    assert np.array_equal(alone.level_points, written.level_points, equal_nan=True)
    assert np.array_equal(alone.proposal_points, written.proposal_points, equal_nan=True)
    assert str(told) == str(written)
    assert "steps[high]" in str(alone.summary())
    assert list(alone.to_datatree()["posterior"]["step"].values) == ["low", "mid", "high"]
    assert tp.resume(tmp_path / "run", model, progress=False).derived == ["both"]


def test_a_map_of_other_codes_is_not_misread(tmp_path, monkeypatch):
    tp.sample(model_of("dict"), **SHORT, store=tmp_path / "run")
    monkeypatch.setattr("temperance.models.transform.CODES", 2)
    assert tp.load(tmp_path / "run").parameters.labels[:2] == ["mu_unconstrained", "sigma_unconstrained"]
    assert np.all(tp.load(tmp_path / "run", model_of("dict"))["sigma"] > 0)


def test_what_is_derived_may_be_thought_of_later(by_dict: tp.Result, tmp_path):
    """Also of a file; and no call of the likelihood is made, nor are its data needed."""

    def forgotten(p: dict[str, Any], y: np.ndarray) -> float:
        raise AssertionError

    other = tp.Model(forgotten, parameters=PARAMETERS, derived=lambda p: {"precision": p["sigma"] ** -2})
    loaded = tp.load(by_dict.save(tmp_path / "run"), other)
    assert loaded.derived == ["precision"]
    np.testing.assert_allclose(loaded["precision"], by_dict["sigma"] ** -2, rtol=1e-15)  # powers of rows


def test_arviz_has_parameters_and_coordinates_apart(by_dict: tp.Result):
    tree = by_dict.to_datatree(warmup=True)
    assert set(tree["posterior"].data_vars) == {*PARAMETERS, "ratio", "twice"}
    assert np.array_equal(tree["posterior"]["mu"].values, by_dict["mu"])
    assert "mu_unconstrained" in tree["unconstrained_posterior"].data_vars
    assert "mu_unconstrained" in tree["warmup_unconstrained_posterior"].data_vars
    assert "warmup_posterior" not in tree.children


def test_hot_levels_are_in_the_users_units_too(tmp_path):
    result = tp.sample(model_of("dict"), **SHORT, keep=("draws", "statistics", "levels"))
    assert result.level_points.shape == (2, 60, 3, 10)
    assert np.array_equal(result.level_points[:, :, 0], result.points)
    tree = result.to_datatree(levels=True)
    assert np.array_equal(tree["tempered_posterior"]["mu"].values, result.level_points[..., 0])
    loaded = tp.load(result.save(tmp_path / "run"))
    assert np.array_equal(loaded.level_points, result.level_points)
    assert "sigma against mu" in [
        text.get_text() for text in tp.plots.draws_by_level(loaded, pair=("mu", "sigma")).texts
    ]


def test_dims_and_coords_are_used():
    model = tp.Model(
        lambda p: -np.sum((p["b"] - 1) ** 2),
        parameters={"b": tp.priors.normal(0, 1, shape=2)},
        dims={"b": ["side"]},
        coords={"side": ["left", "right"]},
    )
    result = tp.sample(model, **SHORT)
    assert result.parameters.labels == ["b[left]", "b[right]"]
    assert result.estimates["parameter"] == ["b[left]", "b[right]"]
    assert list(result.to_datatree()["posterior"]["side"].values) == ["left", "right"]
    assert "b[left]" in str(result)


def test_modes_are_shown_in_the_users_units(by_dict: tp.Result):
    centre = by_dict.modes.centre
    assert centre.shape[1] == 10
    assert centre[0, 2:5].sum() == pytest.approx(1.0)
    given = by_dict.summary(modes=[[3.0, 2.0, 0.4, 0.3, 0.3, 0, 0, 0, 0, 0.0]])
    assert given.modes.columns["weight"] == [1.0]
    with pytest.raises(tp.InvalidInputError, match=r"modes must have shape \(mode, 10\)"):
        by_dict.occupancy([[1.0, 2.0]])
    with pytest.raises(
        tp.InvalidInputError, match=r"the model has named its parameters: mu, sigma.* tp.Model\(parameters="
    ):
        by_dict.named(["a"] * 10)


def test_the_prior_is_the_hottest_level_and_starts_are_its_draws():
    model = tp.Model(
        lambda p: -0.5 * p["x"] ** 2, parameters={"x": tp.priors.normal(5, 2), "y": tp.priors.uniform(0, 1)}
    )
    with pytest.raises(tp.InvalidInputError, match="does not look at the parameter 'y'"):
        tp.sample(model, **SHORT)
    model = tp.Model(
        lambda p: -0.5 * p["x"] ** 2 * p["y"],
        parameters={"x": tp.priors.normal(5, 2), "y": tp.priors.uniform(0, 1)},
    )
    result = tp.sample(
        model, **{**SHORT, "draws": 10, "tune": 0, "chains": 20}, keep=("draws", "statistics", "levels")
    )
    assert all(ladder[-1] == np.inf for ladder in result.temperatures)
    assert len(np.unique(np.round(result.draws[:, 0, 0], 6))) > 10


def test_other_numbers_and_data_compile_nothing():
    model = model_of("njit")
    tp.sample(model, **SHORT)
    before = compiled.stats.cache_misses, len(compiled.signatures)
    other = tp.Model(compiled, parameters={**PARAMETERS, "mu": tp.priors.normal(1, 1)}, data=DATA[:7])
    from temperance.targets.compiled import _compiled_evaluation

    misses = _compiled_evaluation.cache_info().misses
    tp.sample(other, **SHORT)
    tp.sample(model.with_data(DATA + 1), **SHORT)
    assert _compiled_evaluation.cache_info().misses == misses
    assert (compiled.stats.cache_misses, len(compiled.signatures)) == before


def test_chains_do_not_share_room():
    """Chains may run at once: the values of one's point must not land in another's array."""
    target, buffers = (
        model_of("njit").target,
        SimpleNamespace(info=SimpleNamespace(proposal=np.empty((3, 2)))),
    )
    bound = [target.bind(buffers) for _ in range(2)]
    rooms = {ctypes.c_int64.from_address(one.context).value for one in bound}
    assert len(rooms) == 2
    one, many = (tp.sample(model_of("njit"), **{**SHORT, "chains": 4}, cores=cores) for cores in (1, 4))
    assert np.array_equal(one.draws, many.draws)


# Known posteriors.


def test_conjugate_normal(seed: int):
    """Mean of normals with a normal prior, eight runs; false alarm 1e-4, a bias of 0.03 sd is seen."""
    y = np.array([4.2, 5.1, 3.3])
    precision = 1 / 2.0**2 + len(y)
    truth, sd = y.sum() / precision, precision**-0.5
    model = tp.Model(
        _normal_likelihood,
        parameters={"mu": tp.priors.normal(0, 2)},
        data=y,
        derived=lambda p: {"square": p["mu"] ** 2},
    )
    runs = [
        tp.sample(model, draws=4_000, tune=1_000, chains=1, seed=seed + k, progress=False) for k in range(8)
    ]
    found = np.array([[run["mu"].mean(), run["square"].mean()] for run in runs])
    exact = np.array([truth, truth**2 + sd**2])
    verdict = judge_means(found, exact, np.array([0.1 * sd, 1.0 * sd]))
    assert verdict.passed, verdict.detail
    assert not judge_means(
        found, np.array([y.mean(), exact[1]]), np.array([0.1, 1.0])
    ).passed  # without a prior


@numba.njit
def _normal_likelihood(x, y):
    return -0.5 * np.sum((y - x[0]) ** 2)


@numba.njit
def _counts_likelihood(x, y):
    """Poisson counts with rate x[0], and multinomial counts with shares x[1:4]."""
    total = -5 * x[0] + 12 * math.log(x[0])
    for k in range(3):
        total += y[k] * math.log(x[1 + k])
    return total + 7 * math.log(x[4]) + 3 * math.log(1 - x[4])


def test_conjugate_rate_shares_and_chance(seed: int):
    """Gamma with Poisson, Dirichlet with multinomial, beta with binomial: transforms with their Jacobians."""
    counts = np.array([2.0, 5.0, 1.0])
    model = tp.Model(
        _counts_likelihood,
        parameters={
            "rate": tp.priors.gamma(2, 3),
            "shares": tp.priors.dirichlet([1.0, 1.0, 2.0]),
            "chance": tp.priors.beta(0.9, 3),
        },
        data=counts,
    )
    runs = [
        tp.sample(model, draws=4_000, tune=2_000, chains=1, seed=seed + k, progress=False) for k in range(8)
    ]
    found = np.array([[*run.points.mean(axis=(0, 1))] for run in runs])
    powers = counts + np.array([1.0, 1.0, 2.0])
    exact = np.array([14 / 8, *(powers / powers.sum()), 7.9 / 13.9])
    sd = np.array([math.sqrt(14) / 8, *([0.13] * 3), 0.128])
    verdict = judge_means(found, exact, 0.15 * sd)
    assert verdict.passed, verdict.detail
    # Without the Jacobian of the rate its posterior would be gamma(13, 8); the judge would see that.
    assert not judge_means(found, np.array([13 / 8, *exact[1:]]), 0.15 * sd).passed


@numba.njit
def _two_bounded(x):
    return -50.0 * (x[0] - 0.2) ** 2 - 2.0 * x[1]


def test_hot_levels_keep_the_prior_whole(seed: int):
    """The level at β = 0 has the law of the prior, in the user's units (Kolmogorov and Smirnov at 1e-4).

    Seen to fail with half of the log prior at every level, as if that were tempered too.
    """
    parameters = {"e": tp.priors.beta(0.9, 3), "k": tp.priors.log_uniform(1, 100)}
    model = tp.Model(_two_bounded, parameters=parameters)
    settings = tp.Settings(jumps=tp.Jumps(enabled=False), trimming=tp.Trimming(enabled=False))
    options = {"draws": 60_000, "tune": 2_000, "chains": 1, "levels": 3, "progress": False}
    result = tp.sample(model, seed=seed, keep=("draws", "statistics", "levels"), settings=settings, **options)
    hottest = result.level_points[0, ::60, -1]
    assert stats.kstest(hottest[:, 0], stats.beta(0.9, 3).cdf).pvalue > 1e-4 / 2
    assert stats.kstest(hottest[:, 1], stats.loguniform(1, 100).cdf).pvalue > 1e-4 / 2


# Angles.


@numba.njit
def _von_mises(x, data):
    return data[0] * math.cos(x[0] - data[1])


@pytest.mark.parametrize("kappa", [2.0, 50.0])
def test_a_mode_across_the_cut_is_one_mode(kappa: float, seed: int):
    model = tp.Model(_von_mises, parameters={"phase": tp.priors.angle()}, data=np.array([kappa, 0.05]))
    result = tp.sample(model, draws=3_000, chains=2, seed=seed, progress=False)
    phase = result["phase"]
    assert min((phase > 6).mean(), (phase < 0.3).mean()) > 0.05  # it does lie on both sides
    assert len(result.modes) == 1
    mean = result.estimates["mean"][0]
    assert abs((mean - 0.05 + math.pi) % (2 * math.pi) - math.pi) < 5 * result.estimates["mcse"][0] + 1e-3
    assert result.estimates["sd"][0] < 1.2
    direction = np.angle(np.exp(1j * phase).mean())
    around = direction + (phase - direction + math.pi) % (2 * math.pi) - math.pi
    assert result.modes.centre[0, 0] == pytest.approx(around.mean() % (2 * math.pi), abs=1e-9)
    thin = phase[:, ::10].ravel()
    unrolled = (thin - 0.05 + math.pi) % (2 * math.pi) - math.pi
    assert stats.kstest(unrolled, stats.vonmises(kappa).cdf).pvalue > 1e-4 / 2


def test_the_cut_on_a_line_makes_two_modes(seed: int):
    """What the plane saves us from."""
    model = tp.Model(
        _von_mises, parameters={"phase": tp.priors.uniform(0, 2 * math.pi)}, data=np.array([50.0, 0.05])
    )
    result = tp.sample(model, draws=2_000, chains=2, seed=seed, progress=False)
    assert len(result.modes) > 1


# Labels.


@numba.njit
def _three_normals(x, y):
    total = 0.0
    for i in range(y.shape[0]):
        density = 0.0
        for k in range(3):
            density += math.exp(-0.5 * (y[i] - x[k]) ** 2)
        total += math.log(density + 1e-300)
    return total


def test_three_normals_have_six_labellings_by_default(seed: int):
    """All six, evenly: 1/6 is within five errors of each. Tempered as one, chains get stuck."""
    generator = np.random.default_rng(7)
    y = np.concatenate([generator.normal(centre, 1, 40) for centre in (-4.0, 0.0, 5.0)])
    model = tp.Model(_three_normals, parameters={"mu": tp.priors.normal(0, 10, shape=3)}, data=y)
    result = tp.sample(model, seed=seed, progress=False)
    assert len(result.modes) == 6
    assert np.all(np.abs(result.modes.weight - 1 / 6) < 5 * result.modes.weight_error)
    assert min(result.estimates["ess_bulk"]) > 1_000
    rounded = {tuple(np.round(np.sort(centre))) for centre in result.modes.centre}
    assert rounded == {(-4.0, 0.0, 5.0)}


MIXTURE = {
    "weights": tp.priors.dirichlet(3),
    "mu": tp.priors.normal(0, 10, shape=3),
    "sd": tp.priors.half_normal(3, shape=3),
}
of_mixture = tp.offsets(MIXTURE)


@numba.njit
def _mixture(x, y):
    weights, mu, sd = x[of_mixture.weights], x[of_mixture.mu], x[of_mixture.sd]
    total = 0.0
    for i in range(y.shape[0]):
        density = 0.0
        for k in range(3):
            density += weights[k] / sd[k] * math.exp(-0.5 * ((y[i] - mu[k]) / sd[k]) ** 2)
        total += math.log(density + 1e-300)
    return total


def labelling_shares(result: tp.Result) -> np.ndarray:
    """The share of each order of the means in the draws of each chain, (chain, labelling)."""
    first, _, last = np.moveaxis(np.argsort(result["mu"], axis=-1), -1, 0)
    code = 2 * first + (last > 3 - first - last)  # the smallest, and which of the others is the largest
    return np.array([np.bincount(chain, minlength=6) / len(chain) for chain in code])


@pytest.mark.slow
def test_a_whole_mixture_has_six_labellings_by_default(seed: int):
    """Shares, means and widths unknown, eight default runs: each labelling holds 1/6 of the draws.

    The average of runs would show nothing: a sampler that loses labels at random is right on average. Judged
    is the root mean square of the 48 shares about 1/6. Beyond 0.012 it is by chance in one test of 1e4 where
    a run is worth 2,000 draws; one chain of four that misses one labelling in each run makes it 0.019. Seen
    to fail with chains that do not share what they learn (0.036) and without jumps (0.078).
    """
    generator = np.random.default_rng(7)
    sizes = [(-8.0, 1.0), (0.0, 1.0), (10.0, 1.5)]
    y = np.concatenate([generator.normal(centre, width, 40) for centre, width in sizes])
    model = tp.Model(_mixture, parameters=MIXTURE, data=y)
    runs = [tp.sample(model, seed=seed + k, progress=False) for k in range(8)]
    shares = np.array([labelling_shares(run) for run in runs])
    assert np.sqrt(np.mean((shares.mean(axis=1) - 1 / 6) ** 2)) < 0.012
    assert shares.min() > 0.05
    assert [len(run.modes) for run in runs] == [6] * 8
    assert min(min(run.estimates["ess_bulk"]) for run in runs) > 2_000


# Bounds without priors.


def test_bounds_names_and_periods(seed: int):
    """A box of one's own: within it all values, at its walls no −inf, around it no cut."""
    model = tp.Model(
        lambda p: -0.5 * ((p["k"] - 1) ** 2 + p["z"] ** 2) + 3 * math.cos(p["phase"] - 0.1),
        names=["k", "z", "phase"],
        bounds={"k": (0, 2)},
        periodic=["phase"],
    )
    with pytest.raises(tp.InvalidInputError, match="since the prior of 'z' cannot be drawn"):
        tp.sample(model, **SHORT)
    with pytest.raises(tp.InvalidInputError, match="initial must say where 'z' starts"):
        tp.sample(model, initial={"k": 1.0}, **SHORT)
    with pytest.raises(tp.InvalidInputError, match="beta = 0 only with a proper prior, and that of 'z'"):
        tp.sample(model, initial={"z": 0.0}, **{**SHORT, "levels": None}, inverse_temperatures=[1.0, 0.0])
    result = tp.sample(
        model, initial={"z": 0.0}, draws=2_000, tune=1_000, levels=2, chains=2, seed=seed, progress=False
    )
    assert np.all((result["k"] > 0) & (result["k"] < 2))
    assert abs(result["z"].mean()) < 0.2
    assert result["z"].std() == pytest.approx(1.0, abs=0.15)
    assert all(np.isfinite(ladder[-1]) for ladder in result.temperatures)
    assert len(result.modes) == 1


def test_a_vector_within_a_box(seed: int):
    """All bounded: the hottest level is the box."""
    model = tp.Model(lambda x: -abs(x[0]) - x[1], bounds=[(-1, 1), (0, 5), (1, 2)], periodic=[2])
    with pytest.raises(
        tp.InvalidInputError, match="initial must be a dict of parameters, or a vector of their 3"
    ):
        tp.sample(model, initial=np.zeros(4), **SHORT)
    result = tp.sample(model, initial=[0.5, 1.0, 1.5], **SHORT)
    assert result.parameters.labels == ["x[0]", "x[1]", "x[2]"]
    assert result["x"].shape == (2, 60, 3)
    assert np.all((result["x"][..., 2] >= 1) & (result["x"][..., 2] < 2))
    assert all(ladder[-1] == np.inf for ladder in result.temperatures)


def test_a_log_density_of_ones_own(seed: int):
    """Compiled or not, with a transform by its bounds: here a half-normal, against the built-in one."""

    @numba.njit
    def own(x):
        return 0.5 * math.log(2 / math.pi) - 0.5 * x * x

    def draw(generator, shape):
        return np.abs(generator.standard_normal(shape))

    def likelihood(p):
        return -p["s"].sum()

    built_in = tp.Model(likelihood, parameters={"s": tp.priors.half_normal(1, shape=2)})
    plain = tp.Model(likelihood, parameters={"s": tp.priors.custom(own.py_func, 0, draw=draw, shape=2)})
    fast = tp.Model(
        numba.njit(lambda x: -x.sum()), parameters={"s": tp.priors.custom(own, 0, draw=draw, shape=2)}
    )
    start = {"s": [1.0, 2.0]}
    first, *others = (tp.sample(model, initial=start, **SHORT) for model in (built_in, plain, fast))
    for other in others:
        assert other["s"][:, :5] == pytest.approx(first["s"][:, :5], rel=1e-6)
        assert other.log_density[:, :5] == pytest.approx(first.log_density[:, :5], rel=1e-6)
    with pytest.raises(tp.InvalidTypeError, match="the log density of 's', own, must be compiled"):
        tp.sample(
            tp.Model(numba.njit(lambda x: -x.sum()), parameters={"s": tp.priors.custom(own.py_func, 0)}),
            initial={"s": 1.0},
            **SHORT,
        )


# Starts.


def test_starts_in_the_users_units():
    model = model_of("dict")
    whole = {"mu": 3.0, "sigma": 2.0, "weights": [0.2, 0.3, 0.5], "effect": np.zeros((2, 2)), "phase": 1.0}
    stand = {**SHORT, "draws": 1, "tune": 0, "levels": 1}
    spec = model.spec()
    point = spec.unconstrain(whole)
    back = spec.constrain(point[None])
    for name, value in whole.items():
        assert back[name][0] == pytest.approx(np.asarray(value))
    assert callable(spec.unconstrain({"mu": 3.0}))
    result = tp.sample(model, initial=lambda generator: {**whole, "mu": generator.normal()}, **stand)
    assert result["mu"].shape == (2, 1)
    for wrong, message in (
        ({"nu": 1.0}, "initial has 'nu', and the parameters are mu, sigma"),
        ({"sigma": -1.0}, "initial: sigma must lie within the support of half_normal"),
        ({"weights": [0.5, 0.6, 0.1]}, "initial: weights must lie within the support"),
        ({"effect": [1.0]}, r"initial: effect must have shape \(2, 2\), got \(1,\)"),
        ({"mu": "zero"}, "initial: mu must be a number"),
    ):
        with pytest.raises(tp.TemperanceError, match=message):
            tp.sample(model, initial=wrong, **stand)


# Bad models.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tp.Model(of_dict), "parameters must be given, with their priors"),
        (lambda: tp.Model(of_dict, parameters={}), "parameters must have one entry at least"),
        (lambda: tp.Model(of_dict, parameters=["mu"]), "parameters must be a dict from names to priors"),
        (lambda: tp.Model(of_dict, parameters={"mu": 3}), "'mu' must have a prior"),
        (lambda: tp.Model(3, parameters=PARAMETERS), "log_likelihood must be a function"),
        (lambda: tp.Model(of_dict, parameters={"chain": tp.priors.normal()}), "'chain' is taken"),
        (lambda: tp.Model(of_dict, parameters={3: tp.priors.normal()}), "must be a word, got 3"),
        (
            lambda: tp.Model(
                of_dict,
                parameters={"a": tp.priors.normal(shape=2), "side": tp.priors.normal()},
                dims={"a": "side"},
            ),
            "'side' is both a parameter and a dimension",
        ),
        (
            lambda: tp.Model(of_dict, parameters=PARAMETERS, bounds={"mu": (0, 1)}),
            "bounds cannot be given together",
        ),
        (lambda: tp.Model(of_dict, bounds={"k": (2, 1)}), "bounds of 'k': lower must be below upper"),
        (lambda: tp.Model(of_dict, bounds={"k": (1, 1)}), "bounds of 'k': lower must be below upper"),
        (lambda: tp.Model(of_dict, bounds=[(0, 1), (1, 0)]), r"bounds of 'x\[1\]'"),
        (lambda: tp.Model(of_dict, bounds={"k": 3}), r"bounds of 'k' must be a pair"),
        (lambda: tp.Model(of_dict, names=["k"], bounds={"j": (0, 1)}), "bounds must be of k; got 'j'"),
        (lambda: tp.Model(of_dict, names=["k", "k"]), "got 'k' twice"),
        (lambda: tp.Model(of_dict, names=["k"], periodic=["j"]), "periodic must be of k; got 'j'"),
        (
            lambda: tp.Model(of_dict, names=["k"], bounds={"k": (0, None)}, periodic=["k"]),
            "bounds of 'k': a periodic",
        ),
        (lambda: tp.Model(of_dict, names=[]), "parameters must have one entry at least"),
        (lambda: tp.Model(of_dict, parameters=PARAMETERS, derived=3), "derived must be a function"),
        (lambda: tp.Model(of_dict, parameters=PARAMETERS, dims={"nu": "side"}), "dims must be of mu"),
    ],
)
def test_what_is_no_model_is_refused(make, message: str):
    with pytest.raises(tp.TemperanceError, match=message):
        make()


@numba.njit
def _dict_under_njit(p):
    return -(p["mu"] ** 2)


MU = {"mu": tp.priors.normal(0, 1)}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: tp.Model(_dict_under_njit, parameters=MU), "gets all parameters as one vector, and no dict"),
        (
            lambda: tp.Model(of_dict, parameters=PARAMETERS),
            r"takes two arguments, \(x, data\), but data= was not given",
        ),
        (lambda: tp.Model(lambda p: p["nu"], parameters=MU), "raised an error at the start"),
        (lambda: tp.Model(lambda p: "high", parameters=MU), "must return one number"),
        (lambda: tp.Model(lambda p: (0.0, [1.0]), parameters=MU), "takes no gradients yet"),
        (
            lambda: tp.Model(numba.njit(lambda x: (-(x[0] ** 2), -2.0 * x)), parameters=MU),
            "takes no gradients yet",
        ),
        (
            lambda: tp.Model(numba.njit(lambda x, y: -((x[0] - y[0]) ** 2)), parameters=MU),
            r"takes two arguments, \(x, data\), but data= was not given",
        ),
        (
            lambda: tp.Model(numba.njit(lambda x: -(x[0] ** 2)), parameters=MU, data=np.ones(2)),
            "data= was given, but <lambda> does not take it",
        ),
        (lambda: tp.Model(lambda p: -math.inf, parameters=MU), "no start inside the support was found"),
        (
            lambda: tp.Model(lambda p: 0.0, parameters=MU, derived=lambda p: {"mu": 1.0}),
            "'mu', which is a parameter",
        ),
        (
            lambda: tp.Model(lambda p: 0.0, parameters=MU, derived=lambda p: {"chain": 1.0}),
            "derived: the name 'chain' is taken",
        ),
        (lambda: tp.Model(lambda p: 0.0, parameters=MU, derived=lambda p: 3.0), "derived must return a dict"),
        (
            lambda: tp.Model(lambda p: 0.0, parameters=MU, derived=lambda p: {"r": 1 / 0}),
            "derived raised ZeroDivision",
        ),
        (
            lambda: tp.Model(
                lambda p: 0.0, parameters=MU, derived=lambda p: {"r": np.ones(1 + (p["mu"] > 0))}
            ),
            r"derived: r must have one shape for all draws",
        ),
        (
            lambda: tp.Model(
                lambda p: -(p["a"] ** 2), parameters={"a": tp.priors.normal(), "b": tp.priors.beta(1, 2)}
            ),
            "does not look at the parameter 'b'",
        ),
        (
            lambda: tp.Model(numba.njit(lambda x: -(x[0] ** 2)), parameters=MU, vectorized=True),
            "vectorized is for plain",
        ),
    ],
)
def test_a_bad_model_says_what_is_wrong(model, message: str):
    with pytest.raises((tp.TemperanceError,), match=message):
        tp.sample(model(), **SHORT)


def test_errors_show_points_in_the_users_units():
    def fragile(p):
        if p["sigma"] > 3.0:
            raise ValueError("too wide")
        return -p["sigma"]

    model = tp.Model(fragile, parameters={"sigma": tp.priors.uniform(0, 4)})
    with pytest.raises(tp.DensityError, match=r"at the point \{'sigma': 3\.") as caught:
        tp.sample(model, initial={"sigma": 1.0}, **SHORT)
    assert caught.value.result["sigma"].shape[0] == 2
    with pytest.raises(
        tp.DensityError, match=r"at the start of chain 1, level 1, at the point \{'sigma': 3.5"
    ):
        tp.sample(model, initial={"sigma": 3.5}, **SHORT)


def test_a_likelihood_that_looks_at_nothing_is_taken_at_its_word(seed: int):
    model = tp.Model(lambda p: 0.0, parameters={"a": tp.priors.normal(3, 2), "b": tp.priors.uniform(0, 1)})
    result = tp.sample(model, draws=4_000, tune=1_000, chains=1, seed=seed, progress=False)
    assert stats.kstest(result["a"][0, ::40], stats.norm(3, 2).cdf).pvalue > 1e-4


def test_ten_thousand_parameters_are_refused_or_run():
    """By memory, in words; the table itself is no obstacle."""
    many = {f"p{k}": tp.priors.normal(0, 1) for k in range(10_000)}
    model = tp.Model(lambda x: -0.5 * float(x @ x), parameters=many, vector=True)
    with pytest.raises(tp.InvalidInputError, match=r"10000 dimensions need .* GiB"):
        tp.sample(model, **{**SHORT, "chains": 4, "levels": 40})
    assert model.spec().dim == 10_000


def test_no_warning_of_numpy_escapes(by_dict: tp.Result):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(by_dict)
        by_dict.summary()


# Simulation-based calibration (Talts and others 2018).


@numba.njit
def _calibrated(x, y):
    total = 0.0
    for i in range(y.shape[0]):
        total -= math.log(x[1]) + 0.5 * ((y[i] - x[0] - math.cos(x[2] + i)) / x[1]) ** 2
    return total


CALIBRATED = {"mu": tp.priors.normal(0, 2), "sigma": tp.priors.gamma(3, 3), "phase": tp.priors.angle()}
N_TRUTHS = 800  # half as many do not show the fault below


def p_values(seed: int, **wrong: Any) -> list[float]:
    """χ² of the ranks of mu, sigma and sin(phase) of truths from the prior, which a model may have wrong."""
    truths = tp.Model(_calibrated, parameters=CALIBRATED, data=np.zeros(6)).spec()
    model = tp.Model(_calibrated, parameters={**CALIBRATED, **wrong}, data=np.zeros(6))
    generator, ranks = np.random.default_rng(seed), []
    for k in range(N_TRUTHS):
        truth = truths.constrain(truths.start(generator)[None])
        mu, sigma, phase = (truth[name][0] for name in CALIBRATED)
        y = mu + np.cos(phase + np.arange(6)) + sigma * generator.standard_normal(6)
        options = {"draws": 1_000, "tune": 1_500, "chains": 1, "levels": 4, "progress": False}
        result = tp.sample(model.with_data(y), seed=seed + k, **options)
        kept = [result[name][0, ::50] for name in CALIBRATED]
        pairs = [(kept[0], mu), (kept[1], sigma), (np.sin(kept[2]), math.sin(phase))]
        ranks.append([np.sum(drawn < true) for drawn, true in pairs])
    counts = [np.histogram(column, bins=np.linspace(-0.5, 20.5, 8))[0] for column in np.array(ranks).T]
    return [float(stats.chisquare(count).pvalue) for count in counts]


@pytest.mark.slow
def test_ranks_of_truths_are_even(seed: int):
    """Of 800 data sets from the prior; a false alarm in one of 1e4."""
    assert min(p_values(seed)) > 1e-4 / 3


@pytest.mark.slow
def test_ranks_show_a_forgotten_jacobian(seed: int):
    """The log of a gamma variable without its Jacobian has the law of one with a power less."""
    assert min(p_values(seed, sigma=tp.priors.gamma(2, 3))) < 1e-4 / 3
