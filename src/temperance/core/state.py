"""What the kernels read and write: state, info, settings, mixtures, noise and trace.

*State* is what the next iteration needs, *info* what just happened, *settings* what the
user chose. All are tuples of arrays allocated once and written in place; only the first
``n_levels`` rows are live. Single numbers that change live in arrays of length one. Arrays of the
covariances hold the levels in bundles of ``LANES``: level l is lane ``l % LANES`` of bundle ``l // LANES``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
# A trace has a row for each iteration: probabilities and levels need few bytes.
ProbArray = npt.NDArray[np.float32]
LevelArray = npt.NDArray[np.int16]
CountArray = npt.NDArray[np.int32]

# Places in the control array, through which the loop and the world outside talk.
STOP, STATUS, LEVEL = 0, 1, 2
SWAPPING = -1  # in place of a level, while the swaps are under way
CONTROL_SIZE = 3

# What the status can say.
RUNNING, STOPPED, NOT_A_NUMBER, INFINITE, RAISED, BAD_WEIGHT = 0, 1, 2, 3, 4, 5

# Uniforms that one attempted swap consumes: two to choose the pair, one to accept it.
SWAP_UNIFORMS = 3

# Jumps have the tails of Student's t, heavier than a normal's.
JUMP_DOF = 8
# Uniforms that one jump consumes: whether to jump, to which component, and half the degrees of freedom.
JUMP_UNIFORMS = 2 + JUMP_DOF // 2


class State(NamedTuple):
    """Everything the next iteration depends on."""

    position: FloatArray  # (level, dim)
    log_density: FloatArray  # (level,) the tempered part at each position
    log_prior: FloatArray  # (level,) the untempered part, zero without a prior
    beta: FloatArray  # (level,)
    log_gap: FloatArray  # (level,) log of the temperature gap above each level
    mean: FloatArray  # (level, dim)
    cov_factor: FloatArray  # (bundle, dim * (dim - 1) / 2, LANES) unit lower factors by columns, see `linalg`
    cov_diag: FloatArray  # (bundle, dim, LANES) the diagonal between the factors
    deviation: FloatArray  # (bundle, dim, LANES) w of Σ ← keep (Σ + w wᵀ / total), made when Σ is next used
    update_total: FloatArray  # (bundle, 1, LANES) of that update
    update_keep: FloatArray  # (bundle, 1, LANES) likewise
    update_waits: IntArray  # (1,) whether there is one
    spread: FloatArray  # (level, 2) mean squares of the states beside Σ, see `unimodal`; NaN at first
    coordinate_log_scale: FloatArray  # (level, dim) of steps along one coordinate
    log_scale: FloatArray  # (level,)
    log_scale_sum: FloatArray  # (level,) over late tuning, for what is frozen
    log_gap_sum: FloatArray  # (level,) likewise
    replica: IntArray  # (level,) which starting point each position descends from
    n_levels: IntArray  # (1,)
    iteration: IntArray  # (1,)
    n_averaged: IntArray  # (1,) terms in the two sums
    n_refused: IntArray  # (1,) proposals refused for a NaN or +inf density
    bound_hits: IntArray  # (3,) temperature, scale, covariance


class Info(NamedTuple):
    """What happened in the latest iteration, and buffers it used."""

    proposal: FloatArray  # (level, dim)
    log_density: FloatArray  # (level,) at the proposals
    log_prior: FloatArray  # (level,) at the proposals
    log_proposal_ratio: FloatArray  # (level,) log q(x | y) − log q(y | x), zero for a walk
    walk_accept_prob: FloatArray  # (level,) of whatever was proposed
    adjacent_swap_accept: FloatArray  # (level,) between each level and the next
    n_active: IntArray  # (1,) levels that move in this iteration; the hotter ones rest
    jump: IntArray  # (level,) the component that a jump came from, -1 after a walk
    coordinate: IntArray  # (level,) the one coordinate that a walk moved, -1 if it moved all
    swap_accept_prob: FloatArray  # (1,) summed over the attempts
    swap_attempts: IntArray  # (1,) attempts that found a pair
    swap_accepted: IntArray  # (1,)
    base_swaps: IntArray  # (1,) accepted ones that touch the base level
    scratch: FloatArray  # (dim,)
    scale: FloatArray  # (1, LANES) e^θ of one bundle
    moved: FloatArray  # (dim, LANES) the proposals of one bundle


class SwapView(NamedTuple):
    """What a swap strategy sees, where it writes its pair, and room to work in."""

    position: FloatArray  # (level, dim)
    log_density: FloatArray  # (level,)
    beta: FloatArray  # (level,)
    n_levels: IntArray  # (1,)
    parameters: FloatArray  # the strategy's own numbers
    context: IntArray  # (1,) the address of its Python function, if it has one
    clock: IntArray  # (2,) iteration, and attempt within it
    pair: IntArray  # (2,) written; the first is -1 when there is no pair to exchange
    weight: FloatArray  # (level * (level - 1) / 2 + 2 * level,) room
    order: IntArray  # (level,) room


class Mixture(NamedTuple):
    """What jumps are drawn from: components of Student's t with `JUMP_DOF` degrees of freedom."""

    chance: FloatArray  # (1,) of a jump instead of a walk
    cumulative: FloatArray  # (component,) weights added up
    centre: FloatArray  # (component, dim)
    root: FloatArray  # (component, dim, dim) lower factor of the scale matrix
    whitener: FloatArray  # (component, dim, dim) its inverse
    log_height: FloatArray  # (component,) weight times density at the centre


class Settings(NamedTuple):
    """The user's choices as plain numbers."""

    adapting: bool
    robust: bool  # walks learn the shape of the mode that they are in, not the covariance
    rest_every: int  # hot levels move once in so many iterations
    coordinate_every: int  # a step in so many is along one coordinate; zero: none
    pinned: bool  # the last level has beta = 0 and stays
    heat_bath: bool  # a swap is accepted with its conditional probability
    n_swaps: int  # attempts an iteration
    refuse_bad: bool  # a NaN or +inf density refuses the proposal instead of stopping
    gain_scale: float
    gain_exponent: float
    gain_delay: float
    cov_gain_scale: float
    cov_gain_exponent: float
    cov_gain_delay: float
    shape_gain_scale: float
    shape_gain_exponent: float
    shape_gain_delay: float
    target_walk_accept: float
    target_coordinate_accept: float
    target_swap_accept: float
    average_after: int
    trim_after: int  # negative: never
    trim_every: int
    min_levels: int
    trim_threshold: float
    trim_leniency: float
    trim_needs_all: bool  # a level counts only when all hotter ones look unimodal too
    min_log_gap: float
    max_log_gap: float
    min_log_scale: float
    max_log_scale: float
    min_variance: float
    max_variance: float


class Noise(NamedTuple):
    """Random numbers for one block, level by level so that each stream is its own."""

    normals: FloatArray  # (bundle, iteration, dim, LANES)
    uniforms: FloatArray  # (level, iteration)
    swap_uniforms: FloatArray  # (iteration, SWAP_UNIFORMS for each attempt)
    jump_uniforms: FloatArray  # (iteration, 2, JUMP_UNIFORMS) of the base level and of the hottest; or empty


class Trace(NamedTuple):
    """One row for each iteration of a phase. An array without rows is not recorded."""

    draws: FloatArray  # (draw, dim) the base level
    level_draws: FloatArray  # (draw, level, dim) on request
    log_density: FloatArray  # (draw, level) the tempered part
    log_prior: FloatArray  # (draw,) the untempered part at the base level
    base_accept_prob: ProbArray  # (draw,) of whatever the base level proposed
    walk_accept_prob: ProbArray  # (draw, level) of steps in all coordinates, NaN where a level made none
    jump_accept_prob: ProbArray  # (draw, 2) of the base level and the hottest, NaN where it did not jump
    jump: LevelArray  # (draw,) the component that the base was to jump to, -1 if it walked
    evaluations: CountArray  # (draw,) of the log density, scouts after this iteration included
    adjacent_swap_accept: ProbArray  # (draw, level), the last column unused
    swap_accept_prob: ProbArray  # (draw,) summed over the attempts
    swap_pair: LevelArray  # (draw, 2) of the last attempt
    swap_attempts: CountArray  # (draw,) that found a pair
    swap_accepted: CountArray  # (draw,)
    base_swaps: CountArray  # (draw,) accepted ones that touch the base level
    n_levels: LevelArray  # (draw,)
    replica: LevelArray  # (draw, level)
    beta: FloatArray  # (draw, level) recorded while adapting
    log_scale: FloatArray  # (draw, level) recorded while adapting


class Chain(NamedTuple):
    """One tempering run, as the compiled loop receives it."""

    state: State
    info: Info
    view: SwapView
    settings: Settings
    jumps: Mixture
    refresh: Mixture
    noise: Noise
    trace: Trace
    control: IntArray


_VECTOR = types.float64[::1]
_MATRIX = types.float64[:, ::1]
_CUBE = types.float64[:, :, ::1]
_HYPERCUBE = types.float64[:, :, :, ::1]
_INTS = types.int64[::1]
_PROBS = types.float32[::1]
_PROB_MATRIX = types.float32[:, ::1]
_LEVELS = types.int16[::1]
_COUNTS = types.int32[::1]
_LEVEL_MATRIX = types.int16[:, ::1]


def _named(kind: type, *members: Any) -> Any:
    return types.NamedTuple(members, kind)


def swap_view_type() -> Any:
    """The numba type of `SwapView`."""
    return _named(SwapView, _MATRIX, _VECTOR, _VECTOR, _INTS, _VECTOR, *[_INTS] * 3, _VECTOR, _INTS)


def noise_type() -> Any:
    """The numba type of `Noise`."""
    return _named(Noise, _HYPERCUBE, _MATRIX, _MATRIX, _CUBE)


def chain_type() -> Any:
    """The numba type of `Chain`, spelt out so that the loop is compiled just once."""
    state = _named(
        State,
        _MATRIX,
        *[_VECTOR] * 4,
        _MATRIX,
        *[_CUBE] * 5,
        _INTS,
        _MATRIX,
        _MATRIX,
        *[_VECTOR] * 3,
        *[_INTS] * 6,
    )
    info = _named(
        Info, _MATRIX, *[_VECTOR] * 5, *[_INTS] * 3, _VECTOR, *[_INTS] * 3, _VECTOR, _MATRIX, _MATRIX
    )
    mixture = _named(Mixture, _VECTOR, _VECTOR, _MATRIX, _CUBE, _CUBE, _VECTOR)
    settings = _named(Settings, *[_SETTING_TYPES[kind] for kind in Settings.__annotations__.values()])
    noise = noise_type()
    trace = _named(
        Trace, _MATRIX, _CUBE, _MATRIX, _VECTOR, _PROBS, *[_PROB_MATRIX] * 2, _LEVELS, _COUNTS, _PROB_MATRIX,
        _PROBS, _LEVEL_MATRIX, *[_COUNTS] * 3, _LEVELS, _LEVEL_MATRIX, _MATRIX, _MATRIX,
    )  # fmt: skip
    return _named(Chain, state, info, swap_view_type(), settings, mixture, mixture, noise, trace, _INTS)


_SETTING_TYPES = {bool: types.boolean, int: types.int64, float: types.float64}

# evaluate(context, proposal, n_levels, log_density, log_prior, scratch, control)
EVALUATE_SIGNATURE = types.void(types.intp, _MATRIX, types.int64, _VECTOR, _VECTOR, _VECTOR, _INTS)


def evaluate_type() -> Any:
    """A function that fills in the log densities of the proposals (see `targets`)."""
    return types.FunctionType(EVALUATE_SIGNATURE)


def propose_pair_signature() -> Any:
    """Log weight ratio = propose_pair(view, uniform, uniform) (see `swaps`)."""
    return types.float64(swap_view_type(), types.float64, types.float64)


def propose_pair_type() -> Any:
    """A swap strategy as the loop takes it."""
    return types.FunctionType(propose_pair_signature())
