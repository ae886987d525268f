"""A real model of Stan, by the real bridgestan."""

import json
import math

import numpy as np
import pytest

bridgestan = pytest.importorskip(
    "bridgestan", reason="bridgestan is not installed here; test_frontends.py has it"
)

import temperance as tp  # noqa: E402
from mixture import DATA, POINTS, naive_likelihood, naive_prior  # noqa: E402
from stan_library import SOURCES, built  # noqa: E402
from temperance.models.read import model_spec  # noqa: E402

# The library is built with the interface of the newest version, whatever is installed.
pytestmark = pytest.mark.filterwarnings("ignore:The version of the compiled model does not match")
TINY = {"draws": 60, "tune": 60, "chains": 2, "levels": 3, "seed": 5, "progress": False}


def naive(z):
    return naive_prior(z) + naive_likelihood(z)


def stan_model(library, data):
    return bridgestan.StanModel(library, json.dumps({"n": len(data), "y": list(data)}), warn=False)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return str(built(SOURCES / "mixture.stan", tmp_path_factory.mktemp("stan")))


@pytest.fixture(scope="module")
def model(library):
    return stan_model(library, DATA)


def test_the_log_density_is_that_of_the_definition(model):
    result = tp.sample(model, **TINY)
    expected = [naive(z) for z in result.draws[0]]
    np.testing.assert_allclose(result.log_density[0], expected, atol=1e-6)
    assert result.parameters.labels == ["share", "place[0]", "place[1]", "scale[0]", "scale[1]"]


def test_values_are_those_of_stan(model):
    spec = model_spec(model)
    values = spec.constrain(POINTS)
    assert {name: value.shape[1:] for name, value in values.items()} == {
        "share": (),
        "place": (2,),
        "scale": (2,),
        "gap": (),
        "again": (2,),
    }
    np.testing.assert_allclose(values["scale"], np.exp(POINTS[:, 3:]), rtol=1e-12)
    np.testing.assert_allclose(values["gap"], POINTS[:, 2] - POINTS[:, 1], rtol=1e-12)
    assert np.all(np.abs(values["again"] - values["place"]) < 1.0)
    np.testing.assert_array_equal(spec.constrain(POINTS)["again"], values["again"])
    given = {"share": 0.3, "place": [1.0, 2.0], "scale": [0.5, 3.0]}
    np.testing.assert_allclose(
        spec.unconstrain(given), [math.log(0.3 / 0.7), 1, 2, math.log(0.5), math.log(3)]
    )


def test_other_data_of_one_library_compile_nothing(library, model):
    assert model_spec(stan_model(library, DATA[:9])).target._evaluate is model_spec(model).target._evaluate


def test_data_that_are_missing_are_named_by_stan(library):
    with pytest.raises(RuntimeError, match=r"variable name=y; dims declared=\(3\); dims found=\(\)"):
        bridgestan.StanModel(library, '{"n": 3}', warn=False)
