"""Compiled log densities that several tests use, each in any dimension.

A process compiles a function once, and what goes around it likewise: whoever needs no density of its own
takes one of these. They are loops, since array expressions take many times as long to compile.
"""

import math

import numba

DISTANCE = 2.0  # of the modes of `two_modes` from the origin, in every coordinate


@numba.njit
def flat(x):
    return 0.0


@numba.njit
def gaussian(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.5 * x[i] * x[i]
    return total


@numba.njit
def two_modes(x):
    left, right = 0.0, 0.0
    for i in range(x.shape[0]):
        left -= 0.5 * (x[i] + DISTANCE) ** 2
        right -= 0.5 * (x[i] - DISTANCE) ** 2
    return max(left, right) + math.log1p(math.exp(-abs(left - right)))


@numba.njit
def bumpy(x):
    """Wider in the first coordinates, with bumps along the first."""
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.5 * x[i] * x[i] * (1.0 + 0.3 * i)
    return total + math.sin(3.0 * x[0])
