"""A sampler for bilby: ``bilby.run_sampler(likelihood, priors, sampler="temperance")`` finds it by its name.

Parameters are sampled as normal scores: with u = Φ(z) the prior's own transform gives the parameter, so that
the prior of z is the standard normal whatever the priors are. Those that are even and periodic are angles.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from bilby.core.prior import Uniform
from bilby.core.sampler.base_sampler import LikePriorEvaluator, MCMCSampler, signal_wrapper
from scipy.special import ndtr

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.extras import require_version
from temperance.models.model import Model
from temperance.priors import angle, normal
from temperance.results.result import Result
from temperance.sampling import resume, sample

__all__ = ["Temperance"]

LEAST = -1e300  # bilby has a large number where others have minus infinity
PLAIN = (bool, int, float, str, list, dict, type(None))  # what bilby can write to its file
SMALLEST, LARGEST = 1e-300, 1 - 2**-53  # of a probability, so that no parameter is infinite
RUN = "commit-*.npz"  # what a folder with a run has

_evaluator = LikePriorEvaluator()


def log_likelihood(theta: FloatArray) -> float:
    """The log likelihood, or its ratio to that of noise, by what bilby put into this process."""
    value = float(_evaluator.logl(theta))
    return -math.inf if value <= LEAST else value


class Temperance(MCMCSampler):  # type: ignore[misc]
    """Adaptive parallel tempering.

    ``draws``, ``tune``, ``chains``, ``levels``, ``temperatures``, ``inverse_temperatures``, ``swaps``,
    ``settings``, ``thin``, ``progress`` and ``seed`` are those of `temperance.sample`. With ``npool`` or a
    ``pool`` the points of all levels are evaluated at once. The run is written to OUTDIR/temperance_LABEL
    as it goes on, and with ``resume`` one that is there is gone on with.
    """

    sampler_name = "temperance"
    sampling_seed_key = "seed"
    default_kwargs = {  # noqa: RUF012  bilby copies it
        "draws": 5_000,
        "tune": None,
        "chains": 4,
        "levels": None,
        "temperatures": None,
        "inverse_temperatures": None,
        "swaps": None,
        "settings": None,
        "thin": 1,
        "progress": True,
        "seed": None,
        "resume": True,
        "pool": None,
    }

    @property
    def folder(self) -> Path:
        """Where the run is written to."""
        return Path(self.outdir) / f"{self.sampler_name}_{self.label}"

    @signal_wrapper
    def run_sampler(self) -> Any:
        """Make the run, or go on with it; after a signal, leave with bilby's code: all is written."""
        require_version("bilby")
        self._setup_pool()
        try:
            result = self._sampled()
        finally:
            self._close_pool()
        if not result.complete:
            self._log_interruption(signum=result.ended_by)
            sys.exit(self.exit_code)
        self._fill(result)
        return self.result

    def _verify_parameters(self) -> None:
        if not self._keys:  # of which bilby says that there are too many indices
            raise InvalidInputError("priors must leave a parameter free, and all of them are fixed")
        super()._verify_parameters()

    def write_current_state(self) -> None:
        """Nothing to do: the run is written as it goes on."""

    def _sampled(self) -> Result:
        asked = {name: value for name, value in self.kwargs.items() if name not in ("pool", "resume")}
        model = Model(self._named_rows(), parameters=self._parameters(), vector=True, vectorized=True)
        if self.kwargs["resume"] and any(self.folder.glob(RUN)):
            return resume(
                self.folder, model, draws=asked["draws"], swaps=asked["swaps"], progress=asked["progress"]
            )
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        return sample(model, **asked, store=self.folder, overwrite=True)

    def _parameters(self) -> dict[str, Any]:
        return {key: angle(*turn) if (turn := self._turn(key)) else normal(0, 1) for key in self._keys}

    @property
    def _keys(self) -> list[str]:
        return list(self.search_parameter_keys)

    def _turn(self, key: str) -> tuple[float, float] | None:
        """Where an even prior begins that goes in circles, and how long a turn is."""
        prior = self.priors[key]
        if type(prior) is not Uniform or prior.boundary != "periodic":
            return None
        return float(prior.minimum), float(prior.maximum - prior.minimum)

    def parameters_of(self, rows: FloatArray) -> FloatArray:
        """From what is sampled to parameters of bilby, row by row."""
        unit = np.empty_like(rows)
        for k, key in enumerate(self._keys):
            turn = self._turn(key)
            unit[:, k] = ndtr(rows[:, k]) if turn is None else (rows[:, k] - turn[0]) / turn[1]
        unit = np.clip(unit, SMALLEST, LARGEST)
        return np.array([self.prior_transform(row) for row in unit], dtype=np.float64).reshape(rows.shape)

    def _named_rows(self) -> Any:
        """With a name that tells errors apart, whose points are not those of bilby."""
        rows: Any = lambda given: self._rows(given)  # noqa: E731
        rows.__name__ = f"{type(self.likelihood).__name__}.log_likelihood (of normal scores)"
        return rows

    def _rows(self, rows: FloatArray) -> FloatArray:
        evaluate = map if self.pool is None else self.pool.map
        return np.array(list(evaluate(log_likelihood, list(self.parameters_of(rows)))))

    def _fill(self, result: Result) -> None:
        """What bilby wants to know of a run."""
        into = self.result
        into.samples = self.parameters_of(result.points.reshape(-1, self.ndim))
        into.log_likelihood_evaluations = np.concatenate(
            [chain.sampling.log_density[:, 0] for chain in result.chains]
        )
        into.log_evidence, into.log_evidence_err = _evidence(result)
        into.nburn = result.n_tune
        traces = [trace for chain in result.chains for trace in (chain.tuning, chain.sampling)]
        into.num_likelihood_evaluations = int(sum(trace.evaluations.sum() for trace in traces))
        into.sampler_kwargs = {
            name: value if isinstance(value, PLAIN) else repr(value) for name, value in self.kwargs.items()
        }
        self.calc_likelihood_count()


def _evidence(result: Result) -> tuple[float, float]:
    try:
        evidence = result.log_evidence()
    except InvalidInputError:  # a run without jumps and with too few levels
        return math.nan, math.nan
    return evidence.value, evidence.error
