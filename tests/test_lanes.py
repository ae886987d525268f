"""The vector type: each lane gets what NumPy gives, bit for bit."""

import numba
import numpy as np
import pytest

from temperance.core.lanes import LANES, load, root, spread, store


def expression(left, right, out, number):
    """Every operation once, with a value that depends on all of them."""
    a, b = load(left, 1), load(right, 2)
    store(out, 0, a + b)
    store(out, 1, a - b)
    store(out, 2, a * b)
    store(out, 3, a / b)
    store(out, 4, root(a * a + spread(number)))
    store(out, 5, load(out, 4) * b - a / load(out, 2))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_lanes_equal_numpy(scale, rng) -> None:
    left, right = scale * rng.standard_normal((2, 4, LANES))
    compiled, plain = np.full((7, LANES), 9.0), np.full((7, LANES), 9.0)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        expression(left, right, plain, 0.3)
    numba.njit(expression)(left, right, compiled, 0.3)
    np.testing.assert_array_equal(compiled, plain)
    assert np.all(compiled[6] == 9.0), "a store must not touch the next row"


def test_division_by_zero_and_nan_stay_in_their_lane() -> None:
    left, right = np.ones((4, LANES)), np.full((4, LANES), 2.0)
    right[2, 1], left[1, 3] = 0.0, np.nan
    out = np.zeros((6, LANES))
    numba.njit(expression, error_model="numpy")(left, right, out, 0.3)
    np.testing.assert_array_equal(out[3], [0.5, np.inf, 0.5, np.nan])


def test_rows_need_no_alignment(rng) -> None:
    """Rows that start at an odd multiple of eight bytes, as slices of a larger array do."""
    shifted = rng.standard_normal(4 * LANES + 1)[1:].reshape(4, LANES)
    compiled, plain = np.zeros((6, LANES)), np.zeros((6, LANES))
    expression(shifted, shifted, plain, 0.3)
    numba.njit(expression)(shifted, shifted, compiled, 0.3)
    np.testing.assert_array_equal(compiled, plain)
