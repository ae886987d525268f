"""Causes in the shape of the target, and in the number of draws."""

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.causes.advice import Advice
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS
from temperance.results.warnings.policy import CURES

DRAWS = frozenset({"chains differ", "low ESS", "unknown accuracy"})
MODES = frozenset({"missed mode", "unknown mode"})


def switched_off(case: Case) -> Advice | None:
    """Modes that nothing connects, where jumps would."""
    if not case.jumps_are_off or not case.serious & {"missed mode", "too few levels", "no round trips"}:
        return None
    return Advice(
        cause="jumps are switched off",
        seen="chains keep to their modes, and learn no jumps between them",
        cure="Jumps(enabled=True), the default",
        changes={"settings.jumps.enabled": True},
        warnings=tuple(DRAWS | MODES | {"no round trips", "too few levels", "dead edge", "hardly moved"}),
    )


def alone(case: Case) -> Advice | None:
    """Modes that one chain knows and must not tell."""
    jumps = case.result.setup.settings.get("jumps", {})
    several = case.result.draws.shape[0] > 1
    if jumps.get("share", True) or not several or "missed mode" not in case.serious or case.jumps_are_off:
        return None
    return Advice(
        cause="chains that learn alone",
        seen="a mode that one chain has found is not known to the others",
        cure="Jumps(share=True), the default",
        changes={"settings.jumps.share": True},
        warnings=tuple(DRAWS | MODES),
    )


def hundreds(case: Case) -> Advice | None:
    """So many modes that each gets few draws."""
    n_modes = len(case.result.modes)
    if n_modes < LIMITS.hundreds or not case.names & (MODES | DRAWS):
        return None
    draws = max(case.draws, CURES.visits * n_modes)
    return Advice(
        cause="hundreds of modes",
        seen=f"{n_modes} modes share {case.result.draws.shape[1]:,} draws a chain",
        cure=f"{case.longer}draws={draws}: each mode is to be found, and visited again and again",
        changes={"draws": draws, **case.longer_change},
        warnings=tuple(MODES | DRAWS | {"idle jumps"}),
    )


def tied(case: Case) -> Advice | None:
    """Coordinates that can only move together."""
    if not case.names & (DRAWS | {"hardly moved"}) or "missed mode" in case.serious:
        return None
    condition = _condition(case)
    if not condition > LIMITS.tied:
        return None
    return Advice(
        cause="tied coordinates",
        seen=f"within its largest mode the correlations have the condition number {condition:.2g}",
        cure=f"{case.longer}a parametrisation in which the coordinates are less tied",
        changes=case.longer_change,
        rework="parametrisation",
        warnings=tuple(DRAWS | {"hardly moved", "idle jumps"}),
    )


def weights_differ(case: Case) -> Advice | None:
    """All chains know the modes, and have not yet been in them often enough, or do not get there."""
    if "missed mode" not in case.names:
        return None
    if case.modes_are_mixed or not case.tune:
        return _more_draws(case, "too few draws", "all chains come into the modes, by chance in other shares")
    return Advice(
        cause="modes that are not connected",
        seen=f"a chain came into a mode fewer than {LIMITS.few_visits} times, so more draws of the same kind "
        "say little about its weight",
        cure=f"longer tuning, so that jumps fit the modes: tune={case.tune}",
        changes=case.longer_change,
        warnings=tuple(MODES | DRAWS | {"idle jumps"}),
    )


def slow(case: Case) -> Advice | None:
    """Draws that say so little that many times as many would not do."""
    if not case.names & DRAWS or not case.draws_needed > LIMITS.most_draws:
        return None
    return Advice(
        cause="slow mixing",
        seen=f"{case.draws_needed:.0f} times as many draws would be needed",
        cure=f"{case.longer}draws={case.draws}; if the effective sample size then has not grown as the "
        "draws, "
        "another parametrisation",
        changes={"draws": case.draws, **case.longer_change},
        rework="parametrisation",
        warnings=tuple(DRAWS | MODES | {"hardly moved", "idle jumps"}),
    )


def too_few_draws(case: Case) -> Advice | None:
    """More of the same will do."""
    if not case.names & DRAWS:
        return None
    return _more_draws(case, "too few draws", "the draws say less than is asked of them, and more will do")


def _more_draws(case: Case, cause: str, seen: str) -> Advice:
    return Advice(
        cause=cause,
        seen=seen,
        cure=f"draws={case.draws}",
        changes={"draws": case.draws},
        warnings=tuple(DRAWS | MODES),
    )


def _condition(case: Case) -> float:
    """Of the correlations of the draws in the largest mode; NaN where they cannot be told."""
    label = case.result.modes.label.ravel()
    draws = case.result.draws.reshape(-1, case.result.dim)
    own: FloatArray = draws[label == 0] if len(label) == len(draws) else draws
    if case.result.dim < 2 or len(own) <= case.result.dim:
        return float("nan")
    with np.errstate(all="ignore"):
        correlations = np.atleast_2d(np.corrcoef(own.T))
    return float(np.linalg.cond(correlations)) if np.all(np.isfinite(correlations)) else float("nan")
