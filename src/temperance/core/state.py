"""What the kernels read and write: state, info, settings, schedule, mixtures, noise and trace.

*State* is what the next iteration needs, *info* what just happened, *settings* what the
user chose; moves add fields of their own to the first two. All are tuples of arrays allocated once and
written in place; only the first ``n_levels`` rows are live. Single numbers that change live in arrays of
length one. Arrays of the covariances hold the levels in bundles of ``LANES``: level l is lane ``l % LANES``
of bundle ``l // LANES``.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from temperance.core.schema import fields, numba_type, of, of_lane, of_level, of_replica

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]
# A trace has a row for each iteration: probabilities and levels need few bytes.
ProbArray = npt.NDArray[np.float32]
LevelArray = npt.NDArray[np.int16]
CountArray = npt.NDArray[np.int32]

STREAM_WORDS = 4  # the state of an SFC64 generator

# Places in the control array, through which the loop and the world outside talk.
STOP, STATUS, LEVEL, CHANGED = 0, 1, 2, 3
SWAPPING = -1  # in place of a level, while the swaps are under way
CONTROL_SIZE = 4

# What the status can say.
RUNNING, STOPPED, NOT_A_NUMBER, INFINITE, RAISED, BAD_WEIGHT, BAD_RATIO, ASKED_TOO_OFTEN = range(8)

# What a proposal changes and looks at: all coordinates from where the level is, one of them, all of them
# from nowhere, or all or one from one mode to another. What a level does at rest is no proposal.
WALK, SINGLE, JUMP, LEAP = 0, 1, 2, 3
RESTING = -1
# Where an entry of the schedule applies.
EVERYWHERE, AT_BASE, AT_HOTTEST = -1, 0, 1
# What a move wants of a level's shape Σ: nothing, a step x + e^θ Σ^½ z, or a direction Σ^½ z.
NOTHING, STEP, DIRECTION = 0, 1, 2

# Uniforms that one attempted swap consumes: two to choose the pair, one to accept it.
SWAP_UNIFORMS = 3

# What the trace has in place of a component where there was no jump: a walk, or a leap of a kind k, which is
# LEAPT - k. Leaps are from a mode to the same place of another, with the pooled shape or with own shapes, or
# from one hump of a coordinate to another.
WALKED, LEAPT = -1, -2
POOLED, OWN, HUMPS = 0, 1, 2
N_KINDS = 3

# Jumps have the tails of Student's t, heavier than a normal's.
JUMP_DOF = 8
# Uniforms that one jump consumes: whether to jump, to which component, and half the degrees of freedom.
JUMP_UNIFORMS = 2 + JUMP_DOF // 2


class State(NamedTuple):
    """Everything the next iteration depends on, beside what moves declare."""

    position: Annotated[FloatArray, of_replica("dim")]
    log_density: Annotated[FloatArray, of_replica()]  # the tempered part at each position
    log_prior: Annotated[FloatArray, of_replica()]  # the untempered part, zero without a prior
    beta: Annotated[FloatArray, of_level()]
    log_gap: Annotated[FloatArray, of_level()]  # log of the temperature gap above each level
    mean: Annotated[FloatArray, of_level("dim")]
    cov_factor: Annotated[FloatArray, of_lane("below")]  # unit lower factors by columns, see `linalg`
    cov_diag: Annotated[FloatArray, of_lane("dim", fill=1)]  # the diagonal between the factors
    # w of Σ ← keep (Σ + w wᵀ / total), made when Σ is next used.
    deviation: Annotated[FloatArray, of_lane("dim")]
    update_total: Annotated[FloatArray, of_lane(1, fill=1)]  # of that update
    update_keep: Annotated[FloatArray, of_lane(1, fill=1)]  # likewise
    update_waits: Annotated[IntArray, of(1)]  # whether there is one
    # Mean squares of the states beside Σ, see `unimodal`; NaN at first.
    spread: Annotated[FloatArray, of_level(2, fill=math.nan, inherited=False)]
    put_in: Annotated[IntArray, of_level()]  # the iteration after which a level was put in; zero of the first
    # How far out it was at two looks at the ladder, see `runs.heat`; NaN at first.
    reached: Annotated[FloatArray, of_level(2, fill=math.nan, inherited=False)]
    log_scale: Annotated[FloatArray, of_level()]
    log_scale_sum: Annotated[FloatArray, of_level(inherited=False)]  # over late tuning, for what is frozen
    log_gap_sum: Annotated[FloatArray, of_level(inherited=False)]  # likewise
    n_averaged: Annotated[IntArray, of_level(inherited=False)]  # terms in the two sums
    replica: Annotated[IntArray, of_replica()]  # which starting point each position descends from
    born: Annotated[IntArray, of_level()]  # a number for life, whatever place the level comes to have
    # Where a level's random numbers come from.
    normal_stream: Annotated[WordArray, of_level(STREAM_WORDS)]
    uniform_stream: Annotated[WordArray, of_level(STREAM_WORDS)]
    move_stream: Annotated[WordArray, of_level(STREAM_WORDS)]  # what moves need beside these two
    swap_stream: Annotated[WordArray, of(STREAM_WORDS)]
    jump_stream: Annotated[WordArray, of(STREAM_WORDS)]
    # Of the points that each level has asked about while tuning, what `surprise` keeps: the most surprising
    # one, the work that may be spent on the next ones, and the component that explained the last one.
    surprise: Annotated[FloatArray, of_level(fill=-math.inf, inherited=False)]
    surprise_log_target: Annotated[FloatArray, of_level(fill=-math.inf, inherited=False)]
    surprise_point: Annotated[FloatArray, of_level("dim", inherited=False)]
    credit: Annotated[FloatArray, of_level(2, inherited=False)]  # for high points, and for low ones
    explainer: Annotated[IntArray, of_level()]
    best_log_target: Annotated[FloatArray, of(1, fill=-math.inf)]  # of all points while tuning
    best_point: Annotated[FloatArray, of("dim")]
    n_levels: Annotated[IntArray, of(1)]
    iteration: Annotated[IntArray, of(1)]
    n_refused: Annotated[IntArray, of(1)]  # proposals refused for a NaN or +inf density
    bound_hits: Annotated[IntArray, of(3)]  # temperature, scale, covariance


class Info(NamedTuple):
    """What happened in the latest iteration, and buffers it used."""

    # The points to evaluate, row by row: at first one of each level that moves, then those asked for again.
    proposal: Annotated[FloatArray, of("level", "dim")]
    log_density: Annotated[FloatArray, of("level")]  # at these points
    log_prior: Annotated[FloatArray, of("level")]  # likewise
    # Of the tempered part and of the prior, likewise; without rows if no move wants it.
    gradient: Annotated[FloatArray, of("gradient", 2, "dim")]
    asker: Annotated[IntArray, of("level")]  # the level that asked for each point
    n_asked: Annotated[IntArray, of(1)]  # points to evaluate
    # Rounds of evaluation in this iteration: how many points a level has asked for that still asks.
    n_rounds: Annotated[IntArray, of(1)]
    n_evaluations: Annotated[IntArray, of(1)]  # in this iteration
    n_active: Annotated[IntArray, of(1)]  # levels that move in this iteration; the hotter ones rest
    # The first point that the base level asked for, and the parts of its log density.
    base_proposal: Annotated[FloatArray, of("dim")]
    base_log_parts: Annotated[FloatArray, of(2)]
    move: Annotated[IntArray, of("level", fill=-1)]  # which one each level makes, `RESTING` if none
    variant: Annotated[IntArray, of("level")]  # which form of it
    which: Annotated[
        IntArray, of("level", fill=-1)
    ]  # the coordinate that it moves, or the component it is from
    log_proposal_ratio: Annotated[FloatArray, of("level")]  # log q(x | y) − log q(y | x), zero for a walk
    accept_prob: Annotated[FloatArray, of("level")]  # of what was proposed
    adjacent_swap_accept: Annotated[FloatArray, of("level")]  # between each level and the next
    swap_attempts: Annotated[IntArray, of(1)]  # attempts that found a pair
    swap_accepted: Annotated[IntArray, of(1)]
    base_swaps: Annotated[IntArray, of(1)]  # accepted ones that touch the base level
    scratch: Annotated[FloatArray, of("dim")]
    scale: Annotated[FloatArray, of(1, "lane")]  # e^θ of one bundle
    moved: Annotated[FloatArray, of("dim", "lane")]  # the steps of one bundle


class SwapView(NamedTuple):
    """What a swap strategy sees, where it writes its pair, and room to work in."""

    position: Annotated[FloatArray, of("level", "dim")]
    log_density: Annotated[FloatArray, of("level")]
    beta: Annotated[FloatArray, of("level")]
    n_levels: Annotated[IntArray, of(1)]
    parameters: Annotated[FloatArray, of("parameter")]  # the strategy's own numbers
    context: Annotated[IntArray, of(1)]  # the address of its Python function, if it has one
    clock: Annotated[IntArray, of(2)]  # iteration, and attempt within it
    pair: Annotated[IntArray, of(2, fill=-1)]  # written; the first is -1 when there is no pair to exchange
    weight: Annotated[FloatArray, of("weight")]  # room
    order: Annotated[IntArray, of("level")]  # room


class Mixture(NamedTuple):
    """What jumps are drawn from: components of Student's t with `JUMP_DOF` degrees of freedom."""

    chance: Annotated[FloatArray, of(1)]  # of a jump instead of a walk
    cumulative: Annotated[FloatArray, of("component")]  # weights added up
    centre: Annotated[FloatArray, of("component", "dim")]
    root: Annotated[FloatArray, of("component", "dim", "dim")]  # lower factor of the scale matrix
    whitener: Annotated[FloatArray, of("component", "dim", "dim")]  # its inverse
    log_height: Annotated[FloatArray, of("component")]  # weight times density at the centre


class Explained(NamedTuple):
    """What the known modes predict for a log density anywhere; without components nothing is known yet."""

    centre: Annotated[FloatArray, of("component", "dim")]
    whitener: Annotated[FloatArray, of("component", "dim", "dim")]  # inverse of the root of the scale matrix
    log_peak: Annotated[FloatArray, of("component")]
    slope: Annotated[FloatArray, of("component")]  # largest eigenvalue of the inverse of the scale matrix
    reach: Annotated[FloatArray, of("component")]  # e^(log peak less the highest, over the power of the fall)
    highest: Annotated[FloatArray, of(1)]  # log peak
    floor: Annotated[FloatArray, of(1)]  # what lies below it is looked at with work of its own
    margin: Annotated[FloatArray, of(1)]  # above the prediction, from where on it does
    dof: Annotated[FloatArray, of(1)]  # of the tails that modes are believed to have
    allowance: Annotated[FloatArray, of(1)]  # work that each point brings


class Maps(NamedTuple):
    """The modes between which the base level goes from a place to the same place of another.

    The first axis of shapes is the kind: `POOLED`, one shape for all in the size of each mode, or `OWN`.
    """

    log_weight: Annotated[FloatArray, of("mode")]  # of the goal; their exponentials add up to one
    centre: Annotated[FloatArray, of("mode", "dim")]
    root: Annotated[FloatArray, of(2, "mode", "dim", "dim")]  # lower factor of the scale matrix
    whitener: Annotated[FloatArray, of(2, "mode", "dim", "dim")]  # its inverse
    log_volume: Annotated[FloatArray, of(2, "mode")]  # log of the determinant of the root


class Humps(NamedTuple):
    """Coordinates with several humps, each with normals that have the places, widths and shares of these."""

    coordinate: Annotated[IntArray, of("which")]
    share: Annotated[FloatArray, of("which", "hump")]  # adds up to one; zero where there are fewer humps
    centre: Annotated[FloatArray, of("which", "hump")]
    sd: Annotated[FloatArray, of("which", "hump", fill=1)]


class Schedule(NamedTuple):
    """Which move comes when. It depends on the iteration and on uniforms alone, never on the state.

    A level that moves takes the first entry whose turn it is there. The last is taken whenever no other is.
    """

    move: Annotated[IntArray, of("entry")]  # by its number among those of the run
    variant: Annotated[IntArray, of("entry")]  # which form of it, if it has several
    place: Annotated[IntArray, of("entry")]  # `EVERYWHERE`, `AT_BASE` or `AT_HOTTEST`
    every: Annotated[IntArray, of("entry")]  # one turn of a level in so many
    chance: Annotated[FloatArray, of("entry")]  # of taking a turn; below one at these two places only
    rest_every: Annotated[IntArray, of(1)]  # hot levels move once in so many iterations
    # Of all moves of the run, in use or not:
    in_use: Annotated[IntArray, of("move")]
    kind: Annotated[IntArray, of("move")]  # `WALK`, `SINGLE`, `JUMP` or `LEAP`
    shape: Annotated[IntArray, of("move")]  # `NOTHING`, `STEP` or `DIRECTION`
    max_evaluations: Annotated[IntArray, of("move")]


class Settings(NamedTuple):
    """The user's choices as plain numbers."""

    adapting: bool
    watching: bool  # evaluated points are compared with what is known
    pinned: bool  # the last level has beta = 0 and stays
    heat_bath: bool  # a swap is accepted with its conditional probability
    n_swaps: int  # attempts an iteration
    refuse_bad: bool  # a NaN or +inf density refuses the proposal instead of stopping
    gain_scale: float
    gain_exponent: float
    gain_delay: float
    gap_gain_scale: float
    gap_gain_exponent: float
    gap_gain_delay: float
    cov_gain_scale: float
    cov_gain_exponent: float
    cov_gain_delay: float
    shape_gain_scale: float
    shape_gain_exponent: float
    shape_gain_delay: float
    target_walk_accept: float
    target_coordinate_accept: float
    target_swap_accept: float
    equal_edges: bool  # edges are to exchange alike, up to the pinned one; their number sees to the rate
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

    normals: Annotated[FloatArray, of("bundle", "iteration", "dim", "lane")]
    uniforms: Annotated[FloatArray, of("level", "iteration")]
    move_uniforms: Annotated[FloatArray, of("level", "iteration", "move_uniform")]
    swap_uniforms: Annotated[FloatArray, of("iteration", "swap_uniform")]
    # Of the base level and of the hottest; or empty.
    jump_uniforms: Annotated[FloatArray, of("iteration", 2, JUMP_UNIFORMS)]


class Trace(NamedTuple):
    """One row for each iteration of a phase. An array without rows is not recorded."""

    draws: Annotated[FloatArray, of("draw", "dim")]  # the base level
    level_draws: Annotated[FloatArray, of("draw", "level", "dim", fill=math.nan)]  # on request
    log_density: Annotated[FloatArray, of("draw", "level", fill=math.nan)]  # the tempered part
    log_prior: Annotated[FloatArray, of("draw")]  # the untempered part at the base level
    base_accept_prob: Annotated[ProbArray, of("draw")]  # of whatever the base level proposed
    # Of steps in all coordinates, NaN where a level made none.
    walk_accept_prob: Annotated[ProbArray, of("draw", "level", fill=math.nan)]
    # The component that the base was to jump to; `WALKED`, or `LEAPT` and below, if it made no jump.
    jump: Annotated[LevelArray, of("draw")]
    # What the base level proposed, and both parts of its log density together; -inf where there is none.
    proposal: Annotated[FloatArray, of("draw", "dim")]
    proposal_log_density: Annotated[FloatArray, of("draw")]
    evaluations: Annotated[CountArray, of("draw")]  # of the log density, scouts after this iteration included
    n_moved: Annotated[LevelArray, of("draw")]  # levels that moved, all or the base alone
    adjacent_swap_accept: Annotated[ProbArray, of("draw", "level", fill=math.nan)]  # the last column unused
    swap_attempts: Annotated[CountArray, of("draw")]  # that found a pair
    swap_accepted: Annotated[CountArray, of("draw")]
    base_swaps: Annotated[CountArray, of("draw")]  # accepted ones that touch the base level
    n_levels: Annotated[LevelArray, of("draw")]
    replica: Annotated[LevelArray, of("draw", "level", fill=-1)]
    beta: Annotated[FloatArray, of("draw", "level", fill=math.nan)]  # recorded while adapting
    log_scale: Annotated[FloatArray, of("draw", "level", fill=math.nan)]  # recorded while adapting


# The columns of a trace with an entry for each level, and what they hold where there is none.
BY_LEVEL = {name: field.fill for name, (_, field) in fields(Trace).items() if "level" in field.axes}


class Chain(NamedTuple):
    """One tempering run, as the compiled loop receives it."""

    state: State
    info: Info
    swaps: SwapView  # not "view": numba takes that for the method of arrays
    settings: Settings
    schedule: Schedule
    jumps: Mixture
    refresh: Mixture
    explained: Explained
    maps: Maps
    humps: Humps
    noise: Noise
    trace: Trace
    control: Annotated[IntArray, of(CONTROL_SIZE)]


_VECTOR, _MATRIX, _CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]

# evaluate(context, proposal, n_points, log_density, log_prior, gradient, scratch, control)
EVALUATE_SIGNATURE = types.void(
    types.intp, _MATRIX, types.int64, _VECTOR, _VECTOR, _CUBE, _VECTOR, types.int64[::1]
)


def evaluate_type() -> Any:
    """A function that fills in the log densities of the proposals (see `targets`)."""
    return types.FunctionType(EVALUATE_SIGNATURE)


def propose_pair_signature() -> Any:
    """Log weight ratio = propose_pair(view, uniform, uniform) (see `swaps`)."""
    return types.float64(numba_type(SwapView), types.float64, types.float64)


def propose_pair_type() -> Any:
    """A swap strategy as the loop takes it."""
    return types.FunctionType(propose_pair_signature())
