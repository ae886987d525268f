"""Names of coordinates: what a user may say, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import temperance as tp
from records import make_result
from temperance.parameters import parameters_from


@pytest.mark.parametrize(
    ("given_names", "dim", "labels"),
    [
        ({"mu": (3,), "sigma": ()}, 4, ["mu[0]", "mu[1]", "mu[2]", "sigma"]),
        ({"mu": 2, "w": (2, 2)}, 6, ["mu[0]", "mu[1]", "w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]),
        (["a", "b"], 2, ["a", "b"]),
        ("theta", 2, ["theta[0]", "theta[1]"]),
    ],
)
def test_labels(given_names, dim, labels):
    assert parameters_from(given_names, dim).labels == labels


@given(st.lists(st.lists(st.integers(1, 3), max_size=3), min_size=1, max_size=4))
def test_splitting_loses_nothing(shapes):
    names = {f"p{k}": tuple(shape) for k, shape in enumerate(shapes)}
    dim = sum(int(np.prod(shape)) for shape in shapes)
    points = np.arange(2.0 * 3 * dim).reshape(2, 3, dim)
    parameters = parameters_from(names, dim)
    parts = parameters.split(points)
    assert {name: part.shape for name, part in parts.items()} == {n: (2, 3, *s) for n, s in names.items()}
    np.testing.assert_array_equal(
        np.concatenate([part.reshape(2, 3, -1) for part in parts.values()], -1), points
    )
    assert len(parameters.labels) == len(set(parameters.labels)) == dim


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"mu": (3,)}, 4), r"4 coordinates together, got 3: \{'mu': \(3,\)\}"),
        ((["a"], 2), "2 coordinates together, got 1"),
        ((["a", "a"], 2), "different names"),
        (({"mu": (0,), "x": ()}, 1), "the shape of mu must be at least 1, got 0"),
        (({"level": ()}, 1), "'level' is taken"),
        (({"chain": ()}, 1), "'chain' is taken"),
        (({"draw": ()}, 1), "'draw' is taken"),
        (({"edge": ()}, 1), "'edge' is taken"),
        (({"mu": (2,)}, 2, {"mu": ["draw"]}), "'draw' is taken"),
        (({"mu": (2,)}, 2, {"nu": ["a"]}), "dims must be of mu, got 'nu'"),
        (({"mu": (2,)}, 2, {"mu": ["a", "b"]}), "dims of mu must be 1 names"),
        (({"mu": (2,), "s": ()}, 3, {"mu": ["s"]}), "'s' is both a parameter and a dimension"),
        (({"mu": (2,), "nu": (3,)}, 5, {"mu": "a", "nu": "a"}), "'a' has length 2 and 3"),
        (({"mu": (2,)}, 2, {"mu": "a"}, {"a": [1, 2, 3]}), "coords of a must be 2 values, got 3"),
        (({"mu": (2,)}, 2, {"mu": "a"}, {"b": [1, 2]}), "coords must be of a; got 'b'"),
    ],
)
def test_misfits_are_refused_by_name(arguments, message):
    with pytest.raises(tp.InvalidInputError, match=message):
        parameters_from(*arguments)


@pytest.mark.parametrize("bad", [3, None, {"": ()}, {1: ()}, {"mu": "long"}, {"mu": (2.0,)}])
def test_what_is_no_name_is_a_wrong_type(bad):
    with pytest.raises(tp.InvalidTypeError):
        parameters_from(bad, 1)


def test_names_are_used_everywhere_and_the_original_keeps_its_own(rng):
    result = make_result(rng, n_draws=50, n_tune=10, dim=3)
    named = result.named(
        {"mu": (2,), "sigma": ()}, dims={"mu": ["place"]}, coords={"place": ["north", "south"]}
    )
    assert "mu[north]" in str(named)
    assert "mu[north]" in named._repr_html_()
    assert named.summary().parameters.columns["parameter"] == ["mu[north]", "mu[south]", "sigma"]
    assert "x[0]" in str(result)


@pytest.mark.parametrize(("which", "message"), [("nu", "one of mu, sigma; got 'nu'"), (2, "0 to 1, got 2")])
def test_unknown_parameters_are_refused(which, message):
    with pytest.raises(tp.InvalidInputError, match=message):
        parameters_from(["mu", "sigma"], 2).index(which)
