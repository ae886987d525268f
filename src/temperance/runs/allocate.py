"""Arrays for one chain."""

from collections.abc import Collection

import numpy as np

from temperance.core.lanes import LANES
from temperance.core.schema import allocate, sizes
from temperance.core.state import CONTROL_SIZE, FloatArray, Info, IntArray, State, Trace
from temperance.moves import records_of
from temperance.runs.keep import DEFAULT, DRAWS, STATISTICS, kept_columns
from temperance.runs.plan import Plan, initial_log_scale


def new_state(plan: Plan) -> State:
    """A state before its first point: unit covariances, the first ladder."""
    n_levels, most, dim = plan.n_levels, plan.most_levels, plan.dim
    variances = initial_variances(plan)
    state: State = allocate(records_of(plan.moves).state, sizes(most, dim))
    state.beta[:n_levels], state.log_gap[:n_levels] = plan.betas, log_gaps(plan.betas)
    level = np.arange(most)
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
    variances = np.ones(plan.most_levels)
    if not plan.target.has_prior and plan.settings.adaptation.tempered_start:
        variances[: plan.n_levels] = 1.0 / plan.betas
    return variances


def log_gaps(betas: FloatArray) -> FloatArray:
    """Log of the gap between each temperature and the next; zero where there is no finite gap."""
    free = betas[betas > 0.0]
    gaps = np.zeros(len(betas))
    gaps[: len(free) - 1] = np.log(np.diff(1.0 / free))
    return gaps


def new_info(plan: Plan) -> Info:
    """Buffers for what happens in one iteration; all levels are about to be asked."""
    wants_gradient = plan.walk.needs_gradient
    most = plan.most_levels
    lengths = sizes(most, plan.dim, gradient=most if wants_gradient else 0)
    info: Info = allocate(records_of(plan.moves).info, lengths)
    info.n_active[0] = info.n_asked[0] = plan.n_levels
    info.asker[:] = np.arange(most)
    return info


def no_rows(n_levels: int, dim: int) -> Trace:
    """A trace without rows, which says what a row would be like."""
    return allocate(Trace, sizes(n_levels, dim, draw=0))


def new_trace(plan: Plan, n_rows: int, columns: Collection[str], n_levels: int | None = None) -> Trace:
    """Room for so many rows, of the levels at the start or of so many; columns not recorded get none."""
    n_levels = plan.n_levels if n_levels is None else n_levels
    none = no_rows(n_levels, plan.dim)
    unwanted = {name: getattr(none, name) for name in Trace._fields if name not in columns}
    return allocate(Trace, sizes(n_levels, plan.dim, draw=n_rows), **unwanted)


def tuning_columns() -> tuple[str, ...]:
    """What is recorded while tuning: all but the draws of hot levels."""
    return kept_columns(DEFAULT, adapting=True)


def recorded_columns(plan: Plan) -> tuple[str, ...]:
    """What the loop records of the draws, whether it is kept or not."""
    return kept_columns({*plan.keep, STATISTICS}, adapting=plan.adapts_for_ever)


def sampled_columns(plan: Plan) -> tuple[str, ...]:
    """What is kept of the draws."""
    return kept_columns(plan.keep, adapting=plan.adapts_for_ever)


def kept_draws(plan: Plan, chains: int) -> list[Trace]:
    """Room for what is kept of the draws of each chain. Draws of all chains lie in one array, to be one."""
    n_kept, columns = plan.draws // plan.thin, set(sampled_columns(plan)) - {DRAWS}
    draws = np.zeros((chains, n_kept, plan.dim))
    return [new_trace(plan, n_kept, columns)._replace(draws=draws[chain]) for chain in range(chains)]


def covariance_bytes(plan: Plan) -> int:
    """Memory for the covariance factors of one chain."""
    n_lanes = -(-plan.most_levels // LANES) * LANES
    return int(n_lanes * plan.dim * (plan.dim + 1) // 2 * np.dtype(np.float64).itemsize)


def tuning_bytes(plan: Plan) -> int:
    """Memory for the rows of the tuning of one chain."""
    return plan.tune * row_bytes(plan, tuning_columns(), plan.most_levels)


def sampling_bytes(plan: Plan) -> int:
    """Memory for the rows that are kept of the draws of one chain."""
    return plan.draws // plan.thin * row_bytes(plan, sampled_columns(plan))


def row_bytes(plan: Plan, columns: Collection[str], n_levels: int | None = None) -> int:
    """Memory for one row."""
    return int(sum(column.nbytes for column in new_trace(plan, 1, columns, n_levels)))


def new_control() -> IntArray:
    """The loop's line to the outside."""
    return np.zeros(CONTROL_SIZE, dtype=np.int64)


def cut(trace: Trace, n_rows: int) -> Trace:
    """The first rows of a trace."""
    return Trace._make(column[:n_rows] for column in trace)
