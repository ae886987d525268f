"""Cures that go together: one number for each thing to change, and no cure that another contradicts."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from temperance.results.warnings.warning import ResultWarning

if TYPE_CHECKING:
    from temperance.results.result import Result

THINGS = ("levels", "tune", "draws", "chains")
FEWER_LEVELS = "too many levels"
# What a ladder that ends in the prior may cure: its hottest level knows all modes that the prior does.
HARD = ("too few levels", "dead edge", "no round trips", "missed mode")
APART = (
    "; and prior and likelihood apart (log_prior=, log_likelihood=), if the target has a prior: the hottest "
    "level is then the prior, from which every mode is in reach"
)


def reconciled(result: "Result", found: Sequence[ResultWarning]) -> tuple[ResultWarning, ...]:
    """The same warnings in the same order, with cures that can all be followed at once."""
    kept = _one_direction(found)
    most = {thing: _largest(kept, thing) for thing in THINGS}
    return _with_prior_apart(result, [replace(one, cure=_with_numbers(one.cure, most)) for one in kept])


def advice_of(found: Sequence[ResultWarning]) -> tuple[str, ...]:
    """What to try, the first thing first, each once, with the warnings that it is for."""
    reasons: dict[str, list[str]] = {}
    for one in found:
        reasons.setdefault(one.cure, []).append(one.name)
    return tuple(f"{cure} ({', '.join(names)})" for cure, names in reasons.items())


def _one_direction(found: Sequence[ResultWarning]) -> list[ResultWarning]:
    """Levels cannot be both too few and too many: more of them are asked for where draws are in doubt."""
    more = any(one.name != FEWER_LEVELS and _numbers(one.cure, "levels") for one in found)
    return [one for one in found if not (more and one.name == FEWER_LEVELS)]


def _largest(found: Sequence[ResultWarning], thing: str) -> int:
    return max((number for one in found for number in _numbers(one.cure, thing)), default=0)


def _numbers(cure: str, thing: str) -> list[int]:
    return [int(number) for number in re.findall(rf"\b{thing}=(\d+)", cure)]


def _with_numbers(cure: str, most: dict[str, int]) -> str:
    """A cure with the number that all cures of the run have for a thing; levels that are kept follow."""
    before = _numbers(cure, "levels")
    for thing, number in most.items():
        cure = re.sub(rf"\b{thing}=\d+", f"{thing}={number}", cure)
    kept = {f"min_levels={number}" for number in before}
    for one in kept:
        cure = cure.replace(one, f"min_levels={most['levels']}")
    return cure


def _with_prior_apart(result: "Result", found: list[ResultWarning]) -> tuple[ResultWarning, ...]:
    """The first serious warning of a ladder that does not suffice names the prior, if none is apart."""
    hard = [place for place, one in enumerate(found) if one.serious and one.name in HARD]
    if hard and not _has_prior(result):
        first = found[hard[0]]
        found[hard[0]] = replace(first, cure=f"{first.cure}{APART}")
    return tuple(found)


def _has_prior(result: "Result") -> bool:
    """Whether a part of the target is not tempered."""
    return any(np.any(chain.tuning.log_prior) or np.any(chain.sampling.log_prior) for chain in result.chains)
