"""Causes in the log density itself: while one of these holds, nothing else is to be changed."""

import numpy as np

from temperance.results.causes.advice import Advice
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS
from temperance.results.causes.starts import at_the_peak, highest_draws
from temperance.results.warnings.density import peak_of, rounded_part
from temperance.results.warnings.policy import THRESHOLDS

MIXING = frozenset({"chains differ", "low ESS", "unknown accuracy", "hardly moved", "missed mode"})
LADDER = frozenset({"too few levels", "dead edge", "no round trips"})
TUNING = frozenset({"still adapting", "bound hit", "too many levels", "learning failed", "idle jumps"})
STUCK = frozenset({"never moved", "hardly moved"})
AFTER_IT = MIXING | LADDER | TUNING | {"lost mode", "unknown mode", "goals missed"}


def chance(case: Case) -> Advice | None:
    """The log density gave two values at one point."""
    if "not repeatable" not in case.names:
        return None
    return Advice(
        cause="a density of chance",
        seen="asked twice at the same point, it gave two values",
        cure="a log density that depends on its point alone: no random numbers in it, or always the same",
        rework="density",
        warnings=tuple(AFTER_IT | STUCK | {"not repeatable"}),
        ends=True,
    )


def digits(case: Case) -> Advice | None:
    """The digits of doubles do not suffice: far from the mass draws differ, beside a constant they do not."""
    if "rounding" not in case.names:
        return None
    part, _, relative = rounded_part(case.result)
    if np.ptp(relative) > THRESHOLDS.constant:
        return Advice(
            cause="far from the mass",
            seen="the log density still changed from draw to draw, and is so small that its digits end",
            cure=f"{case.longer if case.is_short else ''}a start nearer the mass, from which all draws are "
            "still far away",
            changes={**highest_draws(case.result), **(case.longer_change if case.is_short else {})},
            rework="elsewhere",
            warnings=tuple(AFTER_IT | STUCK | {"rounding"}),
            ends=True,
        )
    return Advice(
        cause="rounding",
        seen=f"the log {part} varies by next to nothing beside its size",
        cure=f"leave constants out of the log {part} from the start; taken off at the end they have cost the "
        "digits already",
        rework="constants",
        warnings=tuple(AFTER_IT | STUCK | {"rounding"}),
        ends=True,
    )


def no_integral(case: Case) -> Advice | None:
    """It does not fall off along a ray."""
    if "does not fall off" not in case.names:
        return None
    return Advice(
        cause="a density that does not fall off",
        seen="far out along a ray it falls too slowly to have an integral",
        cure="see whether it is the logarithm, and its sign; then a prior or bounds for each parameter that "
        "the data do not bound (tp.Model(parameters={...}) or tp.Model(log_density, bounds=...))",
        rework="proper",
        warnings=tuple(AFTER_IT | {"does not fall off"}),
        ends=True,
    )


def undefined(case: Case) -> Advice | None:
    """Draws that stand still, beside proposals that were rejected for a NaN."""
    rejected = sum(chain.n_bad_density for chain in case.result.kept)
    if not rejected or not case.names & STUCK:
        return None
    return Advice(
        cause="a density without a value",
        seen="proposals were rejected for a NaN or +inf, and draws stand still",
        cure=f"a density that can be computed everywhere ({rejected:,} proposals were rejected for it), "
        "and is "
        "-inf outside of its support",
        rework="density",
        warnings=tuple(AFTER_IT | STUCK),
        ends=True,
    )


def no_width(case: Case) -> Advice | None:
    """A coordinate that cannot move."""
    if "never moved" not in case.names or case.is_short:
        return None
    return Advice(
        cause="a support without width",
        seen="a coordinate stood still in all chains",
        cure="another start, or a density without that coordinate; evaluate it by hand beside the start",
        rework="density",
        warnings=tuple(AFTER_IT | STUCK),
        ends=True,
    )


def improper_when_heated(case: Case) -> Advice | None:
    """Tails that hot levels make too heavy for an integral, by the preflight or by where levels went."""
    explains = LADDER | {"bound hit", "too many levels", "still adapting"}
    from_on, went_off = case.proper_below, "endless heat" in case.names
    if not went_off and (case.hottest < from_on or not case.names & explains):
        return None
    useful = [int(np.count_nonzero(ladder < from_on)) for ladder in case.result.temperatures]
    levels = max(2, *useful)
    fewer = levels < case.result.n_levels_at_start and np.isfinite(from_on)
    return Advice(
        cause="improper when heated",
        seen=f"its tails fall so slowly that it has no integral from temperature {from_on:.3g} on, and the "
        f"ladder ends at {case.hottest:.3g}"
        if case.hottest >= from_on
        else "a hot level went farther and farther out, and was heated no more",
        cure="a prior apart (log_prior=), which is not heated, or bounds"
        + (f"; else levels={levels}, of which all have an integral" if fewer else ""),
        changes={"levels": levels} if fewer else {},
        rework="apart",
        warnings=tuple(explains | {"endless heat", "missed mode", "chains differ", "low ESS"}),
    )


def walls(case: Case) -> Advice | None:
    """Draws that crowd at the edge of the support; with priors, coordinates have no edges."""
    explains = frozenset({"hardly moved", "low ESS", "chains differ", "unknown accuracy"})
    setup = case.result.setup
    least = LIMITS.walls_acceptance * setup.walk_acceptance
    if setup.priors or not setup.preflight.get("walls") or not case.base_walk < least:
        return None
    return Advice(
        cause="hard walls",
        seen=f"the density is -inf outside of its support, and steps are accepted at {case.base_walk:.2g} "
        f"where {setup.walk_acceptance:.2g} was aimed at",
        cure=f"{case.longer}parameters that know their bounds (tp.Model(log_density, bounds=...), or "
        "priors), "
        "so that no step ends outside",
        changes=case.longer_change,
        rework="parametrisation",
        warnings=tuple(explains),
    )


def lost(case: Case) -> Advice | None:
    """A place with a high density that was left."""
    if "lost mode" not in case.names:
        return None
    number, row, _, _ = peak_of(case.result)
    return Advice(
        cause="a high place that was left",
        seen="while tuning, a chain was where the log density is far above that of all draws since",
        cure=f"{case.longer}a start at result.chains[{number}].tuning.draws[{row}] for some chains and "
        "not for "
        "others; nothing, if it is known that hardly any mass is there",
        changes={**at_the_peak(case.result, number, row), **case.longer_change},
        warnings=("lost mode", "missed mode", "unknown mode", "chains differ", "low ESS"),
    )
