"""What one chain leaves behind."""

from dataclasses import dataclass

from temperance.core.state import FloatArray, IntArray, Trace


@dataclass(frozen=True, kw_only=True)
class ChainRecord:
    """One chain's traces, and the parameters it ended with (one row for each level left)."""

    tuning: Trace
    sampling: Trace
    beta: FloatArray
    log_scale: FloatArray
    mean: FloatArray
    covariance: FloatArray
    n_refused: int
    bound_hits: IntArray
    complete: bool

    @property
    def n_draws(self) -> int:
        """How many draws were made after tuning."""
        return len(self.sampling.draws)
