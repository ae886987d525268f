"""Causes in the shape of the target, and in the number of draws."""

from temperance.results.causes.advice import Advice
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS
from temperance.results.causes.shape import condition, narrowing
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
        warnings=tuple(DRAWS | MODES | {"no round trips", "dead edge", "hardly moved"}),
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
    explains = DRAWS | MODES | {"hardly moved", "idle jumps", "dead edge", "still adapting", "no round trips"}
    if not case.names & DRAWS or not condition(case) > LIMITS.tied:
        return None
    return Advice(
        cause="tied coordinates",
        seen=f"within the largest mode the correlations have the condition number {condition(case):.2g}",
        cure=f"{case.longer}a parametrisation in which the coordinates are less tied",
        changes=case.longer_change,
        rework="parametrisation",
        warnings=tuple(explains),
    )


def funnel(case: Case) -> Advice | None:
    """Widths that differ from place to place, to which no single scale of a walk fits."""
    walk = case.result.setup.settings.get("adaptation", {}).get("walk")
    if not case.names & DRAWS or walk == "slice" or not narrowing(case) > LIMITS.narrowing:
        return None
    return Advice(
        cause="a funnel",
        seen=f"the width of a coordinate goes with another (correlation {narrowing(case):.2f})",
        cure=f"{case.longer}Adaptation(walk='slice'), whose steps find their width at each place; better, "
        "another parametrisation, such as one in units of that width",
        changes={"settings.adaptation.walk": "slice", **case.longer_change},
        rework="parametrisation",
        warnings=tuple(
            DRAWS | MODES | {"hardly moved", "dead edge", "no round trips", "still adapting", "bound hit"}
        ),
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


def few_to_judge(case: Case) -> Advice | None:
    """Fewer draws than there are by default, whatever else is the matter."""
    n_draws = case.result.draws.shape[1]
    if not case.names & {"low ESS", "unknown accuracy"} or n_draws >= CURES.usual_draws:
        return None
    draws = max(case.draws, CURES.usual_draws)
    return Advice(
        cause="few draws to judge by",
        seen=f"there are {n_draws:,} a chain, and {CURES.usual_draws:,} by default",
        cure=f"draws={draws}",
        changes={"draws": draws},
        warnings=tuple(DRAWS),
    )


def _more_draws(case: Case, cause: str, seen: str) -> Advice:
    return Advice(
        cause=cause,
        seen=seen,
        cure=f"draws={case.draws}",
        changes={"draws": case.draws},
        warnings=tuple(DRAWS | MODES),
    )
