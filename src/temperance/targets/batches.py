"""Points that a chain is going to ask for, evaluated in one call of a function of rows with what it asks for.

A call takes much longer than one more row in it. So the calls that are needed take rows along that will be
asked for later, and these then need no call. Every such call has the same number of rows. Rows must stand
alone; then values are those of a chain that does not look ahead.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from temperance.core.state import FloatArray, Info
from temperance.targets.ahead import Find

ROWS = 64  # of a call that looks ahead: jumps between two walks are fewer, mostly
ENOUGH = ROWS // 2  # points known ahead: a call that is needed then is made as it would be without them

Fill = Callable[[FloatArray, Info], None]  # evaluates points, and puts the answers where they belong


class Batches:
    """What one chain will ask of a function in this process, which evaluates rows by ``fill``."""

    serves_all_moving = False  # a call is needed in each iteration then

    def __init__(self, fill: Fill, info: Info) -> None:
        self._fill, self._info = fill, info
        self._room = info._replace(log_density=np.zeros(ROWS), log_prior=np.zeros(ROWS))
        self._known: dict[bytes, tuple[float, float]] = {}  # log densities and log priors
        self._coming: Iterator[FloatArray] | None = None
        self._find: Find = tuple

    @property
    def expects(self) -> bool:
        """Whether it was told what will come."""
        return self._coming is not None

    def expect(self, points: Iterator[FloatArray], find: Find = tuple) -> None:
        """These points will be asked for; ``find`` knows of others."""
        self._coming, self._find = points, find

    def values(self, points: FloatArray) -> FloatArray:
        """Log densities, both parts together, of rows that are evaluated as they are."""
        self._fill(points.copy(), self._room)
        values: FloatArray = self._room.log_density[: len(points)] + self._room.log_prior[: len(points)]
        return values

    def forget(self) -> int:
        """Expect nothing any more; how many points were evaluated in vain."""
        n_known, self._coming, self._find = len(self._known), None, tuple
        self._known.clear()
        return n_known

    def answer(self, points: FloatArray) -> bool:
        """Put the answers for all of these points in place, where some are known or others come with them."""
        keys = [point.tobytes() for point in points]
        unknown = [row for row, key in enumerate(keys) if key not in self._known]
        some_known = len(unknown) < len(keys)
        if unknown and not self._ask(points[unknown], some_known):
            return False
        answers = [self._known[key] for key in keys]  # two levels may ask for one point
        for row, key in enumerate(keys):
            self._info.log_density[row], self._info.log_prior[row] = answers[row]
            self._known.pop(key, None)
        return True

    def _ask(self, points: FloatArray, alone: bool) -> bool:
        """Have these points evaluated with some that will come, or ``alone`` if none of them is needed."""
        found = list(self._find())
        enough = len(self._known) >= ENOUGH and not found
        more = [] if enough else self._more(found, ROWS - len(points))
        if not (more or alone) or len(points) > ROWS:
            return False
        rows = np.concatenate([points, *(point[None] for point in more)])
        keys = [row.tobytes() for row in rows]
        if more:
            rows = np.concatenate([rows, np.repeat(rows[-1:], ROWS - len(rows), axis=0)])
        try:
            self._fill(rows, self._room)
        except BaseException:  # noqa: BLE001  it is met again, and raised, when its turn comes
            self.expect(iter(()))
            return False
        answers = zip(self._room.log_density.tolist(), self._room.log_prior.tolist(), strict=True)
        self._known.update(zip(keys, answers, strict=False))
        return True

    def _more(self, found: list[FloatArray], n_rows: int) -> list[FloatArray]:
        """So many points at most that will be asked for, those that have come to be known first."""
        if n_rows <= 0 or self._coming is None:
            return []
        return [*found[:n_rows], *itertools.islice(self._coming, max(0, n_rows - len(found)))]
