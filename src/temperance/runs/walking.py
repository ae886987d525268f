"""Rounds of scouts in this process; what the density does to one of them ends that one, never the run."""

import functools
from collections.abc import Callable

import numpy as np

from temperance.core.schema import allocate, sizes
from temperance.core.scout import Scouts
from temperance.core.state import (
    LEVEL,
    RAISED,
    RUNNING,
    STATUS,
    STOP,
    STOPPED,
    FloatArray,
    Info,
    Settings,
    State,
)
from temperance.errors import PoolError
from temperance.runs.asking import asked
from temperance.runs.unraisable import heeding
from temperance.targets import Bound, Buffers, Target
from temperance.targets.batches import ROWS


class Walks:
    """The walks of scouts beside one chain, whose buffers they borrow, and the batches of its rounds.

    ``fail`` is told of what ends the run: a pool that is gone, or somebody who wants to leave. ``met``
    gets what the first scout met, in words.
    """

    def __init__(
        self,
        kernel: Callable[..., int],
        target: Target,
        bound: Bound,
        buffers: Buffers,
        fail: Callable[[BaseException], None],
        met: list[str],
    ) -> None:
        self.met = met
        self._kernel, self._target, self._fail = kernel, target, fail
        self._bound, self._buffers = bound, buffers

    def round(self, scouts: Scouts, state: State, settings: Settings) -> bool:
        """One round; whether it came to its end."""
        status, before = self._buffers.control, scouts.met.copy()
        scouts.n_steps[0] = 0
        while status[STATUS] == RUNNING:
            error = self._walk_on(scouts, state, settings)
            if error is None:
                break
            if isinstance(error, PoolError) or not isinstance(error, Exception):
                self._fail(error)
                return False
            status[STATUS] = RUNNING
            self._end_those_that_fail(scouts, error)
        for scout in np.flatnonzero(scouts.met > before)[:1] if not self.met else ():
            point = scouts.tried[scout, scouts.met[scout] - 1]
            self.met.append(f"a log density that is NaN or +inf at the point {self._bound.show(point)}")
        return bool(status[STATUS] == RUNNING)

    def values(self, points: FloatArray, state: State, settings: Settings) -> FloatArray | None:
        """Log densities of the target at points, in batches of one size; None where stopped.

        Where the density is no number or raises an error there is none, and the point counts for nothing.
        """
        found = []
        for first in range(0, len(points), ROWS):
            values = self._values_at_once(points[first : first + ROWS])
            if values is None:
                return None
            bad = np.isnan(values) | (values == np.inf)
            state.n_refused[0] += np.count_nonzero(bad) if settings.refuse_bad else 0
            found.append(np.where(bad, -np.inf, values))
        return np.concatenate(found)

    @functools.cached_property
    def _batch(self) -> tuple[Bound, Buffers]:
        """The target bound to room for a batch, which has more rows than the chain has levels."""
        dim = self._buffers.info.proposal.shape[1]
        info: Info = allocate(Info, sizes(ROWS, dim, gradient=0))
        buffers = Buffers(info, self._buffers.control)
        return self._target.bind(buffers), buffers

    def _values_at_once(self, points: FloatArray) -> FloatArray | None:
        bound, buffers = self._batch
        info, control = buffers.info, buffers.control
        info.n_asked[0], info.proposal[: len(points)] = len(points), points
        error = asked(bound, buffers)
        if isinstance(error, PoolError) or (error is not None and not isinstance(error, Exception)):
            own = self._buffers.info
            own.proposal[0], own.asker[0] = points[control[LEVEL]], 0
            control[STATUS], control[LEVEL] = RAISED, 0
            self._fail(error)
        elif control[STOP] != 0:
            control[STATUS] = STOPPED
        if control[STATUS] != RUNNING:
            return None
        if error is None:
            return info.log_density[: len(points)] + info.log_prior[: len(points)]
        if len(points) == 1:
            return np.full(1, np.nan)
        one_by_one = [one for point in points if (one := self._values_at_once(point[None])) is not None]
        return np.concatenate(one_by_one) if len(one_by_one) == len(points) else None

    def _walk_on(self, scouts: Scouts, state: State, settings: Settings) -> BaseException | None:
        """To the end of the round, or to an error of the density."""
        bound, control = self._bound, self._buffers.control
        try:
            with heeding(control, bound.failures):
                self._kernel(
                    bound.evaluate, bound.context, state, self._buffers.info, settings, control, scouts
                )
        except BaseException as error:  # noqa: BLE001  whatever the density raised
            control[STATUS] = RAISED
            return error
        return bound.failures.pop() if control[STATUS] == RAISED else None

    def _end_those_that_fail(self, scouts: Scouts, error: Exception) -> None:
        """Ask for the points of this step one by one, and end the scouts whose points raise an error.

        Where none does by itself, all that walk are ended: such a density cannot be told from a broken one.
        """
        walking = np.flatnonzero(scouts.walking)
        points = self._buffers.info.proposal[: len(walking)].copy()
        failed = [self._raises(point) for point in points] if len(walking) > 1 else [True]
        for scout in walking[np.array(failed)] if any(failed) else walking:
            scouts.walking[scout], scouts.met[scout] = 0, scouts.n_steps[0] + 1
            scouts.n_evaluations[scout] += 1
        if not self.met:
            place = points[failed.index(True) if any(failed) else 0]
            self.met.append(f"{error!r} at the point {self._bound.show(place)}")

    def _raises(self, point: np.ndarray) -> bool:
        info = self._buffers.info
        info.n_asked[0], info.proposal[0] = 1, point
        return asked(self._bound, self._buffers) is not None
