"""Arrays for one chain."""

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.schema import allocate, new_array, sizes
from temperance.core.state import CONTROL_SIZE, FloatArray, Info, IntArray, State, Trace
from temperance.errors import InvalidInputError
from temperance.moves import records_of
from temperance.runs.plan import Plan, initial_log_scale

MEMORY_LIMIT = 8 * 2**30  # bytes for the covariances and traces of one call

# Columns of a trace that are recorded on request, and while adapting.
KEPT_LEVELS, HISTORY = ("level_draws",), ("beta", "log_scale")


def new_state(plan: Plan) -> State:
    """A state before its first point: unit covariances, the first ladder."""
    n_levels, dim = plan.n_levels, plan.dim
    variances = initial_variances(plan)
    state: State = allocate(records_of(plan.moves).state, sizes(n_levels, dim))
    state.beta[:], state.log_gap[:] = plan.betas, log_gaps(plan.betas)
    level = np.arange(n_levels)
    state.cov_diag[level // LANES, :, level % LANES] = variances[:, None]
    state.log_scale[:] = initial_log_scale(plan)
    state.replica[:] = state.born[:] = level
    state.n_levels[0] = n_levels
    for move in plan.moves:
        if move.first is not None:
            move.first(state, variances)
    return state


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


def new_info(plan: Plan) -> Info:
    """Buffers for what happens in one iteration; all levels are about to be asked."""
    wants_gradient = plan.walk.needs_gradient
    lengths = sizes(plan.n_levels, plan.dim, gradient=plan.n_levels if wants_gradient else 0)
    info: Info = allocate(records_of(plan.moves).info, lengths)
    info.n_active[0] = info.n_asked[0] = plan.n_levels
    info.asker[:] = np.arange(plan.n_levels)
    return info


def new_trace(plan: Plan, n_rows: int, *, adapting: bool, keep_levels: bool) -> Trace:
    """Room for one phase; columns that are not recorded get no rows."""
    unwanted = (() if keep_levels else KEPT_LEVELS) + (() if adapting else HISTORY)
    none = sizes(plan.n_levels, plan.dim, draw=0)
    return allocate(
        Trace,
        sizes(plan.n_levels, plan.dim, draw=n_rows),
        **{name: new_array(Trace, name, none) for name in unwanted},
    )


def new_traces(plan: Plan) -> dict[str, Trace]:
    """Room for both phases."""
    adapting, keep = plan.adapts_for_ever, plan.keep_levels
    return {
        "tuning": new_trace(plan, plan.tune, adapting=True, keep_levels=False),
        "sampling": new_trace(plan, plan.draws, adapting=adapting, keep_levels=keep),
    }


def require_memory(plan: Plan, chains: int) -> None:
    """Refuse a run that would take more memory than is allowed."""
    covariances = chains * covariance_bytes(plan) / 2**30
    needed, limit = covariances + chains * trace_bytes(plan) / 2**30, MEMORY_LIMIT / 2**30
    if needed > limit:
        raise InvalidInputError(
            f"{chains} chains x {plan.n_levels} levels in {plan.dim} dimensions need "
            f"{needed:.1f} GiB ({covariances:.1f} for covariances, the rest for draws), more than the "
            f"{limit:.0f} GiB allowed; use fewer levels, chains or draws"
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
