"""Draws and jump proposals made by hand, of targets whose integral and modes are known exactly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy import stats
from scipy.signal import lfilter

import temperance as tp
from records import make_result, with_chains, with_sampling
from temperance.core.state import JUMP_DOF
from temperance.modes.learnt import LearntModes

LOG_Z = 3.7


@dataclass(frozen=True)
class Peaks:
    """A target on a line: Gaussians with these centres, widths and masses, times e^`LOG_Z`."""

    centre: np.ndarray
    width: np.ndarray
    mass: np.ndarray

    def log_density(self, x: np.ndarray) -> np.ndarray:
        z = (x[..., None] - self.centre) / self.width
        parts = np.log(self.mass / self.width) - 0.5 * np.log(2.0 * np.pi) - 0.5 * z**2
        return LOG_Z + np.logaddexp.reduce(parts, axis=-1)

    def draws(self, rng: np.random.Generator, n: int, memory: float) -> np.ndarray:
        """A stationary chain: the place within a mode is autoregressive, the mode is chosen anew at times."""
        noise = np.sqrt(1.0 - memory**2) * rng.standard_normal(n)
        noise[0] = rng.standard_normal()
        z = lfilter([1.0], [1.0, -memory], noise)
        fresh = rng.random(n) >= memory
        fresh[0] = True
        since = np.maximum.accumulate(np.where(fresh, np.arange(n), 0))
        mode = rng.choice(len(self.mass), n, p=self.mass)[since]
        return self.centre[mode] + self.width[mode] * z

    @property
    def mean(self) -> float:
        return float(self.mass @ self.centre)


def mixture(centre, width, weight) -> LearntModes:
    """Components that a chain might have learnt of a target on a line; the last is the broad one."""
    return LearntModes(
        weight=np.asarray(weight, dtype=np.float64),
        centre=np.asarray(centre, dtype=np.float64)[:, None],
        covariance=np.asarray(width, dtype=np.float64)[:, None, None] ** 2,
        chance=0.9,
        efficiency=0.9,
        rest_every=1,
        n_scouts=0,
        told_at=np.full(len(weight), np.nan),
        seen=np.full(len(weight), np.nan),
    )


def proposed(rng: np.random.Generator, modes: LearntModes, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Components by their weights, and a point of Student's t from each."""
    which = rng.choice(len(modes.weight), n, p=modes.weight)
    width = np.sqrt(modes.covariance[which, 0, 0])
    return which, modes.centre[which, 0] + width * rng.standard_t(JUMP_DOF, n)


@cache
def template(n_chains: int, n_draws: int) -> tp.Result:
    """A run on a line; its columns are replaced."""
    return make_result(np.random.default_rng(0), n_chains=n_chains, n_draws=n_draws, n_levels=2, dim=1)


def made_up(
    rng: np.random.Generator,
    target: Peaks,
    mixtures: Sequence[LearntModes],
    *,
    n_draws: int = 300,
    chance: float = 0.8,
    memory: float = 0.5,
) -> tp.Result:
    """A run with a chain for each mixture: draws of the target, and proposals in some of the rows."""

    def chain(k, record):
        which, points = proposed(rng, mixtures[k], n_draws)
        draws = target.draws(rng, n_draws, memory)
        jumped = rng.random(n_draws) < chance
        changed = with_sampling(
            record,
            draws=draws[:, None],
            log_density=np.repeat(target.log_density(draws)[:, None], 2, axis=1),
            jump=np.where(jumped, which, -1).astype(np.int16),
            proposal=np.where(jumped, points, np.nan)[:, None],
            proposal_log_density=np.where(jumped, target.log_density(points), np.nan),
        )
        return replace(changed, modes=mixtures[k])

    return with_chains(template(len(mixtures), n_draws), chain)


def jumping(
    rng: np.random.Generator, target: Peaks, mixtures: Sequence[LearntModes], *, n_draws: int = 300
) -> tp.Result:
    """The same, but draws are what Metropolis and Hastings make of proposals, after an exact one."""
    made = made_up(rng, target, mixtures, n_draws=n_draws, chance=1.0, memory=0.0)

    def chain(k, record):
        trace = record.sampling
        points = np.append(trace.draws[0, 0], trace.proposal[:, 0])
        log_density = target.log_density(points)
        place = independence_places(log_density - log_mixture(mixtures[k], points), rng)
        levels = np.repeat(log_density[place, None], 2, axis=1)
        return with_sampling(record, draws=points[place, None], log_density=levels)

    return with_chains(made, chain)


def log_mixture(modes: LearntModes, x: np.ndarray) -> np.ndarray:
    """Log density of the whole mixture."""
    width = np.sqrt(modes.covariance[:, 0, 0])
    law = stats.t(JUMP_DOF, loc=modes.centre[:, 0], scale=width)
    return np.log(law.pdf(x[:, None]) @ modes.weight)


def independence_places(log_ratio: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """At which of the points a chain is that starts at the first and is proposed the others, one by one."""
    ratios, limits = log_ratio.tolist(), np.log(rng.random(len(log_ratio))).tolist()
    places, here = [], 0
    for there in range(1, len(ratios)):
        if ratios[there] - ratios[here] > limits[there]:
            here = there
        places.append(here)
    return np.array(places)
