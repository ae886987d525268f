"""What is behind the warnings of a run, and what to do about it: one list, each cause once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from temperance.results.causes import density, ladder, mixing, running, tuning
from temperance.results.causes.advice import Advice, changes_of
from temperance.results.causes.case import Case
from temperance.results.warnings.warning import ResultWarning

if TYPE_CHECKING:
    from temperance.results.result import Result

__all__ = ["BESIDE", "CAUSES", "Advice", "advice_of", "changes_of", "with_cures"]

# In the order in which they are told: what makes all else meaningless, what the user has switched off, tuning
# before the ladder, the ladder before the modes, more draws after that, and remarks.
CAUSES = (
    running.nothing_drawn,
    density.chance,
    density.no_integral,
    density.digits,
    density.undefined,
    density.no_width,
    mixing.switched_off,
    mixing.alone,
    density.lost,
    density.improper_when_heated,
    mixing.tied,
    mixing.funnel,
    tuning.not_arrived,
    tuning.too_short,
    tuning.stuck,
    tuning.stayed,
    ladder.too_cold,
    ladder.cut_down,
    ladder.broken,
    tuning.not_learnt,
    mixing.hundreds,
    density.walls,
    mixing.weights_differ,
    ladder.no_journeys,
    mixing.slow,
    mixing.too_few_draws,
    mixing.few_to_judge,
    ladder.prior_apart,
    running.idle,
    running.units,
    running.bounds,
    running.spare_levels,
    running.unchecked,
    running.single,
    running.budget,
    running.stopped,
    running.unknown,
)
# Told beside other causes of the same warnings: what only the user knows, and what cannot do harm.
BESIDE = (mixing.few_to_judge, ladder.prior_apart)


def advice_of(result: "Result", found: Sequence[ResultWarning]) -> tuple[Advice, ...]:
    """What to do, the first thing first. A cause is told if it explains what no cause before it does."""
    case = Case(result, found)
    left: set[str] = set(case.names)
    told: list[Advice] = []
    for rule in CAUSES:
        beside = rule in BESIDE and not any(one.ends for one in told)
        one = rule(case) if left or beside else None
        if one is None or not (left & set(one.warnings) or (beside and _adds(one, told))):
            continue
        explained = tuple(name.name for name in found if name.name in one.warnings)
        told.append(replace(one, warnings=explained))
        left -= set(explained)
    return tuple(told)


def _adds(one: Advice, told: Sequence[Advice]) -> bool:
    """Whether it changes what none before it does."""
    changed = {name for other in told for name in other.changes}
    return not set(one.changes) & changed


def with_cures(found: Sequence[ResultWarning], advice: Sequence[Advice]) -> tuple[ResultWarning, ...]:
    """The warnings with the cure of the first cause that explains them."""
    cures: dict[str, str] = {}
    for one in advice:
        for name in one.warnings:
            cures.setdefault(name, one.cure)
    return tuple(replace(one, cure=cures[one.name]) for one in found)
