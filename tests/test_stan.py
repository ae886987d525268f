"""Models of Stan: a library with its interface in C, and the same of a real model where bridgestan is."""

import ctypes
import math
import shutil
import subprocess
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import temperance as tp
from temperance.models.frontends.stan import places
from temperance.models.read import model_spec

TINY = {"draws": 60, "tune": 60, "chains": 2, "levels": 3, "seed": 5, "progress": False}
SOURCE = """
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int n_freed = 0;
struct model { double centre; };

void *make(double centre) { struct model *m = malloc(sizeof *m); m->centre = centre; return m; }
void bs_free_error_msg(char *message) { n_freed++; free(message); }

int bs_log_density(const struct model *m, bool propto, bool jacobian, const double *x, double *lp, char **e) {
    double scale = exp(x[0]), off = x[1] - m->centre;
    if (scale > 20) { if (e) *e = strdup("scale is too large"); return -1; }
    *lp = -0.5 * (off * off) - scale + (jacobian ? x[0] : 0.0) + (propto ? 1e6 : 0.0);
    if (x[1] > 6) *lp = NAN;
    return 0;
}
"""


@numba.njit
def same(x):
    return (
        np.nan
        if math.exp(x[0]) > 20 or x[1] > 6
        else -0.5 * ((x[1] - 1.0) * (x[1] - 1.0)) - math.exp(x[0]) + x[0]
    )


class Imitation:
    """What bridgestan.StanModel has, of a model with ``scale`` above zero and ``place``."""

    def __init__(self, library, centre=1.0):
        self.stanlib, self._centre = library, centre
        library.make.restype, library.make.argtypes = ctypes.c_void_p, [ctypes.c_double]
        self.model = library.make(centre)

    def name(self):
        return "imitation"

    def model_info(self):
        return "STAN_THREADS=true"

    def param_unc_num(self):
        return 2

    def param_unc_names(self):
        return ["scale", "place.1"]

    def param_names(self, *, include_tp=False, include_gq=False):
        return (
            ["scale", "place.1"] + ["m.1.1", "m.2.1", "m.1.2", "m.2.2"] * include_tp + ["noise"] * include_gq
        )

    def new_rng(self, seed):
        return np.random.default_rng(seed)

    def param_constrain(self, x, *, include_tp=False, include_gq=False, rng=None):
        made = [math.exp(x[0]), x[1]] + [11.0, 21.0, 12.0, 22.0] * include_tp
        return np.array(made + ([rng.normal()] if include_gq else []))

    def param_unconstrain(self, values):
        return np.array([math.log(values[0]), values[1]])

    def log_density(self, x, *, propto, jacobian):
        value, error = ctypes.c_double(), ctypes.c_char_p()
        call = self.stanlib.bs_log_density
        array = (ctypes.c_double * 2)(*x)
        failed = call(
            ctypes.c_void_p(self.model), propto, jacobian, array, ctypes.byref(value), ctypes.byref(error)
        )
        if failed:
            raise RuntimeError(error.value.decode())
        return value.value


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    folder = tmp_path_factory.mktemp("stan")
    (folder / "model.c").write_text(SOURCE)
    command = [compiler, "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-o", "model.so", "model.c", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "model.so"))


@pytest.fixture(scope="module")
def result(library):
    return tp.sample(Imitation(library), **TINY)


def test_draws_are_those_of_the_density(library, result):
    """Broken: propto=True, which adds a million here; no Jacobian; an error that leaves the last value."""
    settings = tp.Settings(bad_density="reject")
    start = model_spec(Imitation(library)).start
    two = tp.sample(same, initial=start, settings=settings, **TINY)
    np.testing.assert_array_equal(result.draws, two.draws)
    np.testing.assert_array_equal(result.log_density, two.log_density)


def test_points_without_a_value_are_counted_and_messages_freed(library, result):
    refused = sum(chain.n_bad_density for chain in result.chains)
    assert refused > 0
    assert 0 < ctypes.c_int.in_dll(library, "n_freed").value <= refused


def test_values_have_the_names_and_shapes_of_stan(result):
    assert result.parameters.labels == ["scale", "place[0]"]
    np.testing.assert_array_equal(result["m"][0, 0], [[11.0, 12.0], [21.0, 22.0]])
    np.testing.assert_allclose(result["scale"], np.exp(result.draws[..., 0]), rtol=1e-14)
    np.testing.assert_array_equal(result["place"], result.draws[..., 1:])


def test_generated_quantities_differ_between_chains_and_are_the_same_again(library, result):
    """Broken: one seed for all, so that the numbers of two chains are the same."""
    assert len(np.unique(result["noise"])) == 120
    np.testing.assert_array_equal(result["noise"], tp.sample(Imitation(library), **TINY)["noise"])


def test_other_data_compile_nothing(library):
    one, two = (model_spec(Imitation(library, centre)).target for centre in (1.0, 2.0))
    assert one._evaluate is two._evaluate


def test_starts_in_the_terms_of_the_model(library):
    spec = model_spec(Imitation(library))
    np.testing.assert_allclose(spec.unconstrain({"scale": 2.0, "place": [3.0]}), [math.log(2.0), 3.0])
    assert spec.unconstrain({"place": [3.0]})(np.random.default_rng(0))[1] == 3.0
    np.testing.assert_array_equal(spec.points(np.array([[0.0, 5.0]])), [[1.0, 5.0]])


def test_a_model_that_fails_everywhere_says_what_stan_said(library):
    model = Imitation(library)

    def log_density(x, **_):
        raise RuntimeError("y is -1, but must be positive")

    model.log_density = log_density
    with pytest.raises(tp.StartError, match="none of 100 starts; the last error of Stan was: y is -1"):
        tp.sample(model, **TINY)


def test_a_model_without_parameters_is_refused(library):
    model = Imitation(library)
    model.param_unc_names = list
    with pytest.raises(tp.InvalidInputError, match="imitation, has no parameters, so there is nothing"):
        tp.sample(model, **TINY)


def test_threads_are_used_where_stan_has_them(library):
    model = Imitation(library)
    assert model_spec(model).target.runs_in_parallel
    model.model_info = lambda: "STAN_THREADS=false"
    assert not model_spec(model).target.runs_in_parallel


def test_places():
    found = places(["a", "b.1", "b.2", "c.1.1", "c.2.1", "c.1.2", "c.2.2", "z.real", "z.imag"])
    assert {name: table.tolist() for name, table in found.items()} == {
        "a": 0,
        "b": [1, 2],
        "c": [[3, 5], [4, 6]],
        "z.real": 7,
        "z.imag": 8,
    }


def test_an_object_of_another_kind_gets_the_list_of_kinds():
    with pytest.raises(
        tp.InvalidTypeError, match=r"a pymc.Model, .* a bridgestan.StanModel, or an object with"
    ):
        tp.sample(SimpleNamespace(stan=1), **TINY)
