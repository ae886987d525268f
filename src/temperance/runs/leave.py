"""From the value of a chain to what it leaves behind; also from a snapshot, without the run's functions."""

from temperance.core.state import FloatArray, Trace
from temperance.runs.learn import recorded
from temperance.runs.levels import covariances
from temperance.runs.record import ChainRecord
from temperance.runs.state import RunState

LOG_SCALE = "log_scale"  # in a snapshot: the apparent scales, for which the plan is needed


def record_of(
    now: RunState, log_scale: FloatArray, *, tuning: Trace, sampling: Trace, complete: bool, thin: int
) -> ChainRecord:
    """The record of a chain that has come to ``now``; ``log_scale`` are the apparent scales of its levels."""
    state = now.core
    live = slice(0, int(state.n_levels[0]))
    return ChainRecord(
        tuning=tuning,
        sampling=sampling,
        beta=state.beta[live].copy(),
        log_scale=log_scale,
        mean=state.mean[live].copy(),
        covariance=covariances(state),
        n_bad_density=int(state.n_refused[0]),
        bound_hits=state.bound_hits.copy(),
        complete=complete,
        modes=recorded(now.learner),
        setbacks=now.setbacks,
        lengthened=now.lengthened,
        ladder=now.ladder,
        ran_off=now.ran_off,
        thin=thin,
    )
