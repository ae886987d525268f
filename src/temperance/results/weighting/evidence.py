"""The evidence: log of the integral of the target, by a bridge and, where there is a prior, by the ladder."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from temperance.errors import InvalidInputError
from temperance.results.weighting.stones import NO_PRIOR, ladders, stepping_stones, thermodynamic

if TYPE_CHECKING:
    from temperance.results.result import Result

BRIDGE, STONES, INTEGRATION = "bridge", "stepping stones", "thermodynamic integration"
FAR = 4.0  # standard errors of a difference, beyond which two ways do not agree


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Log evidence with its standard error, how it was made, and what other ways say.

    ``value`` is log ∫ exp(log density) over the coordinates as they are sampled, which is what a model's
    log ∫ prior · likelihood is in its own units. ``others`` has value and standard error of the other ways.
    They start from the prior, as if it were normalised; ``agree`` says whether they agree with ``value``,
    and is None where there is no other. ``notes`` say why a way has no estimate. ``doubts`` are the serious
    warnings of the run: while there are any, ``error`` is that of what was found, which says nothing about
    what was not, and it is not shown.
    """

    value: float
    error: float
    by: str
    others: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def agree(self) -> bool | None:
        """Whether all ways agree."""
        if not self.others:
            return None
        return all(self._distance(*other) <= FAR for other in self.others.values())

    def _distance(self, value: float, error: float) -> float:
        return abs(value - self.value) / max(math.hypot(error, self.error), 1e-12)

    @property
    def in_short(self) -> str:
        """All estimates, without why a way has none."""
        ways = {self.by: (self.value, self.error), **self.others}
        shown = _without_error if self.doubts else _shown
        line = f"log evidence: {', '.join(f'{shown(*found)} ({way})' for way, found in ways.items())}"
        if self.doubts:
            line += f", of what was found alone; its error is not known ({', '.join(self.doubts)})"
        if self.agree is False:
            line += (
                "; THESE DO NOT AGREE: the prior may not be normalised, or the ladder or the jumps may have "
                "missed something"
            )
        return line

    def __str__(self) -> str:
        return "; ".join([self.in_short, *self.notes])


def evidence_of(result: "Result") -> Evidence:
    """All ways that there are; the bridge first."""
    bridge = result.weighting.bridge
    ways = {} if bridge is None else {BRIDGE: (bridge.log_z, bridge.log_z_error)}
    by_ladder, failed = _by_ladder(result)
    ways |= by_ladder
    notes = [f"{way}: {why}" for way, why in failed.items()]
    if bridge is None:
        notes = [f"{BRIDGE}: {result.weighting.why_not}", *notes]
    elif failed and not by_ladder:
        why = next(iter(failed.values()))
        notes = (
            [] if why == NO_PRIOR else [f"only the bridge is available, since the ladder cannot say: {why}"]
        )
    if not ways:
        raise InvalidInputError(f"log_evidence cannot be computed; {'; '.join(notes)}")
    by, (value, error) = next(iter(ways.items()))
    others = {way: estimate for way, estimate in ways.items() if way != by}
    return Evidence(value=value, error=error, by=by, others=others, notes=tuple(notes), doubts=result.doubts)


def _by_ladder(result: "Result") -> tuple[dict[str, tuple[float, float]], dict[str, str]]:
    """What the ways over the ladder say, and why others say nothing."""
    found, why_not = ladders(result)
    if why_not:
        return {}, {"the ladder": why_not}
    said, failed = {}, {}
    for way, method in ((STONES, stepping_stones), (INTEGRATION, thermodynamic)):
        value, error, wrong = method(found)
        if wrong or not math.isfinite(value) or not math.isfinite(error):
            failed[way] = wrong or "its error cannot be told"
        else:
            said[way] = value, error
    return said, failed


def _shown(value: float, error: float) -> str:
    """A value with as many digits as its error has meaning."""
    digits = 3 if not error > 0.0 else max(0, min(8, 1 - math.floor(math.log10(error))))
    return f"{value:.{digits}f} +/- {error:.{digits}f}"


def _without_error(value: float, _: float) -> str:
    """A value whose error is not known, with no more digits than tell it from others."""
    return f"about {value:.1f}"
