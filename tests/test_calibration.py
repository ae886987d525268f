"""Simulation-based calibration through each front-end: 200 fits, data swapped without a compilation.

Each must pass, at a false-alarm rate of 1e-4, and broken versions must not: one without the Jacobian of
``scale``, which exact posteriors in place of fits show to be seen, and one with the data of another fit. (A
prior that counts twice is seen in half of the cases only: three data leave too little to it.) Libraries that
are not installed here have their turn in test_frontends.py.
"""

import ctypes
import json
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from scipy import LowLevelCallable

import temperance as tp
from calibration import (
    CENTRE,
    LARGEST,
    N_DATA,
    N_RANKED,
    PRIORS,
    SHORT,
    WIDTH,
    compiled_log_likelihood,
    judge_ranks,
    kept,
    nothing_compiled_by_numba,
    ranks,
)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # short runs of others' libraries
BRIEF = {**SHORT, "levels": 3, "tune": 500, "draws": 5 * N_RANKED, "thin": 5}  # bilby is slow
SOME = np.array([0.5, 1.0, 2.0])  # what a front-end has seen before the fits, and a broken one goes on with
N_BATCHES = 3  # of one, two and four points: JAX compiles each when a run first asks for it
N_FITS_OF_OTHER_DATA = 60  # enough to see what is as wrong as that
N_FITS_WITHOUT_JACOBIAN = 400  # with 200 the fault is some four standard errors off, and was missed once


def sampled(model, seed, **more):
    return kept(tp.sample(model, seed=seed, **SHORT, **more))


# ---- each front-end: what makes fits, whole or broken


def of_numba(broken, patch, folder):
    @numba.njit
    def without_jacobian(x, data):
        return compiled_log_likelihood(x, data) - np.log(x[1])

    function = without_jacobian if broken == "jacobian" else compiled_log_likelihood
    model = tp.Model(function, parameters=PRIORS, data=SOME)
    return lambda data, seed: sampled(model if broken == "data" else model.with_data(data), seed)


@numba.cfunc("float64(intc, CPointer(float64), voidptr)")
def by_address(n, x, data):
    return compiled_log_likelihood(numba.carray(x, (n,)), numba.carray(data, (N_DATA,), np.float64))


@numba.cfunc("float64(intc, CPointer(float64), voidptr)")
def by_address_without(n, x, data):
    whole = compiled_log_likelihood(numba.carray(x, (n,)), numba.carray(data, (N_DATA,), np.float64))
    return whole - np.log(x[1])


def of_c(broken, patch, folder):
    """Data where the function was told that they are: others are written into the same place."""
    held = SOME.copy()
    function = by_address_without if broken == "jacobian" else by_address
    there = held.ctypes.data_as(ctypes.c_void_p)
    model = tp.Model(LowLevelCallable(function.ctypes, there), parameters=PRIORS)

    def fit(data, seed):
        held[:] = held if broken == "data" else data
        return sampled(model, seed)

    return fit


def of_pymc(broken, patch, folder):
    pm = pytest.importorskip("pymc")
    from temperance.models.frontends import pymc as frontend
    from temperance.models.frontends.pytensor import Graph

    with pm.Model() as model:
        values = pm.Data("values", SOME)
        place, scale = pm.Normal("place", CENTRE, WIDTH), pm.HalfNormal("scale", LARGEST)
        pm.Normal("y", pm.math.abs(place), scale, observed=values)
    if broken == "jacobian":
        whole = pm.Model.logp
        patch.setattr(pm.Model, "logp", lambda self, vars=None: whole(self, vars=vars, jacobian=vars is None))  # noqa: A006
        patch.setattr(frontend.Translated, "require_sum", lambda self: None)
    if broken == "data":
        first = frontend.translated(model)._graph.data
        patch.setattr(Graph, "data", first)

    def fit(data, seed):
        pm.set_data({"values": data}, model=model)
        return sampled(model, seed)

    return fit


def of_numpyro(broken, patch, folder):
    jax, numpyro = pytest.importorskip("jax"), pytest.importorskip("numpyro")
    jax.config.update("jax_enable_x64", True)
    from temperance.models.frontends.numpyro import NumPyroModel

    dist = numpyro.distributions

    def folded(data):
        place = numpyro.sample("place", dist.Normal(CENTRE, WIDTH))
        scale = numpyro.sample("scale", dist.HalfNormal(LARGEST))
        numpyro.sample("y", dist.Normal(abs(place), scale), obs=data)

    model = tp.numpyro.model(folded, (SOME,), jit_model_args=True)
    if broken == "jacobian":
        none = numpyro.distributions.transforms.IdentityTransform.log_abs_det_jacobian
        patch.setattr(numpyro.distributions.transforms.ExpTransform, "log_abs_det_jacobian", none)
        patch.setattr(NumPyroModel, "_require_sum", lambda self: None)
    if broken == "data":
        patch.setattr(NumPyroModel, "with_args", lambda self, data: self)
    return lambda data, seed: sampled(model.with_args(data), seed)


def of_jax(broken, patch, folder):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def log_likelihood(p, data):
        z = (data - abs(p["place"])) / p["scale"]
        total = -0.5 * (z**2).sum() - len(data) * jax.numpy.log(p["scale"])
        return total - (jax.numpy.log(p["scale"]) if broken == "jacobian" else 0.0)

    model = tp.Model(log_likelihood, parameters=PRIORS, data=SOME)
    return lambda data, seed: sampled(model if broken == "data" else model.with_data(data), seed)


def of_stan(broken, patch, folder):
    bridgestan = pytest.importorskip("bridgestan")
    from stan_library import SOURCES, built
    from temperance.models.frontends.stan import StanDensity

    library = str(folder / "folded.so")
    if not Path(library).exists():
        built(SOURCES / "folded.stan", folder)

    def model(data):
        return bridgestan.StanModel(library, json.dumps({"n": N_DATA, "y": list(data)}), warn=False)

    first, target = model(SOME), StanDensity.target
    deaf = without_jacobian(first.stanlib)

    def of_the_first(self):
        self._model = first
        return target(self)

    def of_a_library_without_it(self):
        whole, self._model.stanlib = self._model.stanlib, deaf
        try:
            return target(self)
        finally:
            self._model.stanlib = whole

    if broken is not None:
        patch.setattr(
            StanDensity, "target", {"data": of_the_first, "jacobian": of_a_library_without_it}[broken]
        )
    return lambda data, seed: sampled(model(data), seed)


def without_jacobian(library):
    """A library of Stan whose log density does not hear that Jacobians are wanted."""
    kinds = (ctypes.c_ssize_t, ctypes.c_int, ctypes.c_int, *3 * [ctypes.c_void_p])
    real = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(ctypes.cast(library.bs_log_density, ctypes.c_void_p).value)

    @numba.cfunc("intc(intp, intc, intc, voidptr, voidptr, voidptr)")
    def deaf(model, propto, jacobian, x, value, error):
        return real(model, propto, 0, x, value, error)

    return SimpleNamespace(
        bs_log_density=deaf.ctypes, bs_free_error_msg=library.bs_free_error_msg, keep_alive=(deaf, library)
    )


def of_bilby(broken, patch, folder):
    bilby = pytest.importorskip("bilby")
    import temperance.bilby as plugin

    bilby.core.utils.logger.setLevel("ERROR")
    # What is installed, for its file: that is a process of pip for each fit.
    patch.setattr(bilby.core.sampler, "env_package_list", lambda **_: {})
    law = bilby.core.prior
    priors = law.PriorDict({"place": law.Normal(CENTRE, WIDTH), "scale": law.HalfNormal(LARGEST)})

    class Folded(bilby.Likelihood):
        def __init__(self, data):
            super().__init__()
            self.data = data

        def log_likelihood(self, parameters):
            x = np.array([parameters["place"], parameters["scale"]])
            return compiled_log_likelihood(x, self.data)

    if broken == "jacobian":
        bare = plugin.log_likelihood
        patch.setattr(plugin, "log_likelihood", lambda theta: bare(theta) - np.log(theta[1]))

    def fit(data, seed):
        likelihood = Folded(SOME if broken == "data" else data)
        made = bilby.run_sampler(
            likelihood, priors, sampler="temperance", outdir=str(folder), label="fit", resume=False,
            save=False, seed=seed, **BRIEF,
        )  # fmt: skip
        return {name: made.posterior[name].to_numpy() for name in ("place", "scale")}

    return fit


WAYS = {
    "numba": of_numba,
    "c": of_c,
    "pymc": of_pymc,
    "numpyro": of_numpyro,
    "jax": of_jax,
    "stan": of_stan,
    "bilby": of_bilby,
}
each_way = pytest.mark.parametrize("name", WAYS)


def compiled_by_jax(counted):
    """Count what JAX compiles from now on; there is no way to stop that."""
    jax = pytest.importorskip("jax")
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: counted.append(event) if "backend_compile" in event else None
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fits")


@each_way
def test_ranks_are_uniform_and_no_fit_compiles(name, folder, monkeypatch, rng):
    fit, by_jax = WAYS[name](None, monkeypatch, folder), []
    fit(SOME, 0)
    if name in ("jax", "numpyro"):
        compiled_by_jax(by_jax)
    with ExitStack() as stack:
        if name != "bilby":  # plain Python
            stack.enter_context(nothing_compiled_by_numba())
        found = ranks(fit, rng)
    assert len(by_jax) <= N_BATCHES
    verdict = judge_ranks(found, rng)
    assert verdict.passed, verdict.detail


@each_way
def test_a_jacobian_that_is_missing_is_caught(name, folder, monkeypatch, rng):
    fit = WAYS[name]("jacobian", monkeypatch, folder)
    verdict = judge_ranks(ranks(fit, rng, N_FITS_WITHOUT_JACOBIAN), rng)
    assert not verdict.passed, verdict.detail


@each_way
def test_data_of_another_fit_are_caught(name, folder, monkeypatch, rng):
    fit = WAYS[name]("data", monkeypatch, folder)
    verdict = judge_ranks(ranks(fit, rng, N_FITS_OF_OTHER_DATA), rng)
    assert not verdict.passed, verdict.detail
