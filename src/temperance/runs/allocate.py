"""Arrays for one chain."""

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.state import CONTROL_SIZE, FloatArray, Info, IntArray, State, Trace
from temperance.runs.plan import Plan, initial_log_scale


def new_state(plan: Plan) -> State:
    """A state before its first point: unit covariances, the first ladder."""
    n_levels, dim = plan.n_levels, plan.dim
    n_bundles = -(-n_levels // LANES)
    return State(
        position=np.zeros((n_levels, dim)),
        log_density=np.zeros(n_levels),
        log_prior=np.zeros(n_levels),
        beta=plan.betas.copy(),
        log_gap=log_gaps(plan.betas),
        mean=np.zeros((n_levels, dim)),
        cov_factor=np.zeros((n_bundles, dim * (dim - 1) // 2, LANES)),
        cov_diag=np.repeat(_in_lanes(initial_variances(plan), fill=1.0)[:, None], dim, axis=1),
        deviation=np.zeros((n_bundles, dim, LANES)),
        update_total=np.ones((n_bundles, 1, LANES)),
        update_keep=np.ones((n_bundles, 1, LANES)),
        update_waits=_count(0),
        spread=np.full((n_levels, 2), np.nan),
        coordinate_log_scale=np.repeat(0.5 * np.log(initial_variances(plan))[:, None], dim, axis=1),
        log_scale=np.full(n_levels, initial_log_scale(plan)),
        log_scale_sum=np.zeros(n_levels),
        log_gap_sum=np.zeros(n_levels),
        replica=np.arange(n_levels, dtype=np.int64),
        n_levels=_count(n_levels),
        iteration=_count(0),
        n_averaged=_count(0),
        n_refused=_count(0),
        bound_hits=np.zeros(3, dtype=np.int64),
    )


def initial_variances(plan: Plan) -> FloatArray:
    """The variance each level starts with. Levels of a target with a prior are no wider than it."""
    if plan.target.has_prior or not plan.settings.adaptation.tempered_start:
        return np.ones(plan.n_levels)
    return 1.0 / plan.betas


def log_gaps(betas: FloatArray) -> FloatArray:
    """Log of the gap between each temperature and the next; zero where there is no finite gap."""
    free = betas[betas > 0.0]
    gaps = np.zeros(len(betas))
    gaps[: len(free) - 1] = np.log(np.diff(1.0 / free))
    return gaps


def new_info(n_levels: int, dim: int) -> Info:
    """Buffers for what happens in one iteration."""
    return Info(
        proposal=np.zeros((n_levels, dim)),
        log_density=np.zeros(n_levels),
        log_prior=np.zeros(n_levels),
        log_proposal_ratio=np.zeros(n_levels),
        walk_accept_prob=np.zeros(n_levels),
        adjacent_swap_accept=np.zeros(n_levels),
        n_active=_count(n_levels),
        jump=np.full(n_levels, -1, dtype=np.int64),
        coordinate=np.full(n_levels, -1, dtype=np.int64),
        swap_accept_prob=np.zeros(1),
        swap_attempts=_count(0),
        swap_accepted=_count(0),
        base_swaps=_count(0),
        scratch=np.zeros(dim),
        scale=np.zeros((1, LANES)),
        moved=np.zeros((dim, LANES)),
    )


def new_trace(plan: Plan, n_rows: int, *, adapting: bool, keep_levels: bool) -> Trace:
    """Room for one phase; what is never written stays NaN, or -1 among whole numbers."""
    n_levels, dim = plan.n_levels, plan.dim
    by_level = (n_rows, n_levels)
    history = by_level if adapting else (0, n_levels)
    return Trace(
        draws=np.empty((n_rows, dim)),
        level_draws=np.full((n_rows if keep_levels else 0, n_levels, dim), np.nan),
        log_density=np.full(by_level, np.nan),
        log_prior=np.empty(n_rows),
        base_accept_prob=np.empty(n_rows, dtype=np.float32),
        walk_accept_prob=np.full(by_level, np.nan, dtype=np.float32),
        jump_accept_prob=np.full((n_rows, 2), np.nan, dtype=np.float32),
        jump=np.empty(n_rows, dtype=np.int16),
        evaluations=np.empty(n_rows, dtype=np.int32),
        adjacent_swap_accept=np.full(by_level, np.nan, dtype=np.float32),
        swap_accept_prob=np.empty(n_rows, dtype=np.float32),
        swap_pair=np.empty((n_rows, 2), dtype=np.int16),
        swap_attempts=np.empty(n_rows, dtype=np.int32),
        swap_accepted=np.empty(n_rows, dtype=np.int32),
        base_swaps=np.empty(n_rows, dtype=np.int32),
        n_levels=np.empty(n_rows, dtype=np.int16),
        replica=np.full(by_level, -1, dtype=np.int16),
        beta=np.full(history, np.nan),
        log_scale=np.full(history, np.nan),
    )


def covariance_bytes(plan: Plan) -> int:
    """Memory for the covariance factors of one chain."""
    n_lanes = -(-plan.n_levels // LANES) * LANES
    return int(n_lanes * plan.dim * (plan.dim + 1) // 2 * np.dtype(np.float64).itemsize)


def trace_bytes(plan: Plan) -> int:
    """Memory for the two traces of one chain."""
    tuning = _row_bytes(new_trace(plan, 1, adapting=True, keep_levels=False))
    sampling = _row_bytes(new_trace(plan, 1, adapting=plan.adapts_for_ever, keep_levels=plan.keep_levels))
    return plan.tune * tuning + plan.draws * sampling


def _row_bytes(trace: Trace) -> int:
    return int(sum(column.nbytes for column in trace))


def new_control() -> IntArray:
    """The loop's line to the outside."""
    return np.zeros(CONTROL_SIZE, dtype=np.int64)


def cut(trace: Trace, n_rows: int) -> Trace:
    """The first rows of a trace."""
    return Trace._make(column[:n_rows] for column in trace)


def _in_lanes(values: FloatArray, *, fill: float) -> FloatArray:
    """One number for each level in bundles of lanes, (bundle, LANES); lanes without a level get ``fill``."""
    lanes = np.full(-(-len(values) // LANES) * LANES, fill)
    lanes[: len(values)] = values
    return lanes.reshape(-1, LANES)


def _count(value: int) -> IntArray:
    return np.array([value], dtype=np.int64)
