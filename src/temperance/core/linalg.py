"""Covariances held as L D Lᵀ, updated and multiplied with in one pass of O(d²), four levels at once.

The levels stand in bundles of ``LANES``: every array here has one bundle's numbers in its rows, so that a
vector instruction serves four levels. ``factor`` holds the columns of the unit lower factor L, below the
diagonal, one after the other. Columns go in pairs, which halves the traffic with what is accumulated.
"""

from typing import Any, NamedTuple

from temperance.core.compile import compiled
from temperance.core.lanes import load, root, store
from temperance.core.state import FloatArray


class Bundle(NamedTuple):
    """What the pass over four levels reads and writes."""

    factor: FloatArray  # (dim * (dim - 1) / 2, LANES)
    diag: FloatArray  # (dim, LANES)
    deviation: FloatArray  # (dim, LANES) w, spent by the update
    total: FloatArray  # (1, LANES) of the update
    keep: FloatArray  # (1, LANES) likewise
    scale: FloatArray  # (1, LANES)
    normals: FloatArray  # (dim, LANES)
    moved: FloatArray  # (dim, LANES) gets the step added


@compiled
def renew_diagonal(k: int, total: Any, keep: Any, bundle: Bundle) -> Any:
    """Update D_k in place; column k's pivot and weight, and the total that the next column starts from."""
    pivot, old = load(bundle.deviation, k), load(bundle.diag, k)
    grown = total + pivot * pivot / old
    store(bundle.diag, k, old * (keep * (grown / total)))
    return pivot, pivot / (old * grown), grown


@compiled
def scaled_normal(k: int, bundle: Bundle) -> Any:
    """``scale · D_k^½ z_k``, what column k is multiplied by."""
    return load(bundle.scale, 0) * root(load(bundle.diag, k)) * load(bundle.normals, k)


@compiled
def update_and_step(bundle: Bundle) -> None:
    """Σ becomes keep · (Σ + w wᵀ / total), and ``scale · L D^½ z`` of the new Σ is added; in place.

    Eq. (9) is keep = 1 − γ and total = (1 − γ) / γ. A negative total takes away; Σ stays positive definite
    as long as wᵀ Σ⁻¹ w < −total.
    """
    factor, deviation, moved = bundle.factor, bundle.deviation, bundle.moved
    dim = bundle.diag.shape[0]
    total, keep = load(bundle.total, 0), load(bundle.keep, 0)
    first = 0
    for k in range(0, dim, 2):
        pivot, weight, total = renew_diagonal(k, total, keep, bundle)
        step = scaled_normal(k, bundle)
        store(moved, k, load(moved, k) + step)
        if k + 1 == dim:
            break
        corner = load(factor, first)
        rest = load(deviation, k + 1) - pivot * corner
        corner = corner + weight * rest
        store(factor, first, corner)
        store(deviation, k + 1, rest)
        next_pivot, next_weight, total = renew_diagonal(k + 1, total, keep, bundle)
        next_step = scaled_normal(k + 1, bundle)
        store(moved, k + 1, load(moved, k + 1) + step * corner + next_step)
        second = first + dim - k - 1
        for i in range(dim - k - 2):
            left, right = load(factor, first + 1 + i), load(factor, second + i)
            rest = load(deviation, k + 2 + i) - pivot * left
            left = left + weight * rest
            rest = rest - next_pivot * right
            right = right + next_weight * rest
            store(factor, first + 1 + i, left)
            store(factor, second + i, right)
            store(deviation, k + 2 + i, rest)
            store(moved, k + 2 + i, load(moved, k + 2 + i) + step * left + next_step * right)
        first = second + dim - k - 2


@compiled
def step_only(bundle: Bundle) -> None:
    """Add ``scale · L D^½ z``, in place."""
    factor, moved = bundle.factor, bundle.moved
    dim = bundle.diag.shape[0]
    first = 0
    for k in range(0, dim, 2):
        step = scaled_normal(k, bundle)
        store(moved, k, load(moved, k) + step)
        if k + 1 == dim:
            break
        next_step = scaled_normal(k + 1, bundle)
        store(moved, k + 1, load(moved, k + 1) + step * load(factor, first) + next_step)
        second = first + dim - k - 1
        for i in range(dim - k - 2):
            left, right = load(factor, first + 1 + i), load(factor, second + i)
            store(moved, k + 2 + i, load(moved, k + 2 + i) + step * left + next_step * right)
        first = second + dim - k - 2
