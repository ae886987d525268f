"""Causes in how the run was asked for, and remarks that are their own cause."""

from temperance.results.causes.advice import Advice
from temperance.results.causes.case import Case
from temperance.results.causes.ladder import levels_that_help
from temperance.results.warnings.policy import CURES
from temperance.results.warnings.running import BUDGETS, bound_in_question

NOTHING = "nothing, if there are no other warnings"


def nothing_drawn(case: Case) -> Advice | None:
    """There is nothing to look at."""
    if "no draws" not in case.names:
        return None
    asked = case.result.setup.draws
    again = f"; {_resumed(case)}" if case.result.folder and asked else ""
    return Advice(
        cause="no draws",
        seen="the run ended while tuning" if asked else "draws=0",
        cure=f"a shorter tuning, or more patience{again}" if asked else f"draws={CURES.usual_draws}",
        changes={} if asked else {"draws": CURES.usual_draws},
        rework="patience" if asked else "",
        warnings=tuple(case.names),
        ends=True,
    )


def units(case: Case) -> Advice | None:
    """What could not be learnt while tuning."""
    if "learning failed" not in case.names:
        return None
    return Advice(
        cause="learning failed",
        seen="something stayed as it was before",
        cure="other units, if parameters or the log density are very large or small; else to mend what the "
        f"error names; {NOTHING}",
        rework="units",
        warnings=("learning failed",),
    )


def bounds(case: Case) -> Advice | None:
    """An adapted quantity at the edge of its compact set."""
    if "bound hit" not in case.names:
        return None
    name, low, high = bound_in_question(case.result)
    wider = [low / CURES.wider_bounds, high * CURES.wider_bounds]
    return Advice(
        cause="bound hit",
        seen=f"the target may be flat or improper in some direction, or {name} has another size",
        cure=f"a proper target; if it is as it should be, Bounds({name}=({wider[0]:g}, {wider[1]:g}))",
        changes={f"settings.bounds.{name}": tuple(wider)},
        rework="proper",
        warnings=("bound hit",),
    )


def spare_levels(case: Case) -> Advice | None:
    """Levels without use: fewer are proposed only where all is well without them."""
    if "too many levels" not in case.names:
        return None
    levels = levels_that_help(case)
    keep = f"; or Trimming(min_levels={case.result.n_levels_at_start}) and starts further apart"
    keep += ", if there may be other modes"
    return Advice(
        cause="levels without use",
        seen="the target looks unimodal from the first level on"
        if case.only_one_mode
        else "the last level is as good as flat",
        cure=(
            f"levels={levels}, which costs less{keep if case.only_one_mode else ''}"
            if levels
            else "nothing: they do no harm"
        ),
        changes={"levels": levels} if levels else {},
        warnings=("too many levels",),
    )


def unchecked(case: Case) -> Advice | None:
    """Only draws were kept."""
    if "no statistics" not in case.names:
        return None
    return Advice(
        cause="no statistics",
        seen="only draws were kept",
        cure="a shorter run with keep=('draws', 'statistics') first, to see whether all is well",
        changes={"keep": ("draws", "statistics")},
        warnings=("no statistics",),
    )


def single(case: Case) -> Advice | None:
    """One chain."""
    if "one chain" not in case.names:
        return None
    return Advice(
        cause="one chain",
        seen="there is none to compare it with",
        cure=f"chains={CURES.usual_chains}, started far apart",
        changes={"chains": CURES.usual_chains},
        warnings=("one chain",),
    )


def idle(case: Case) -> Advice | None:
    """Jumps that hardly succeed."""
    if "idle jumps" not in case.names:
        return None
    return Advice(
        cause="jumps that do not fit",
        seen="the modes are not known well enough, or have shapes of their own",
        cure=f"tune={case.tune}; {NOTHING}" if case.tune else NOTHING,
        changes=case.longer_change,
        warnings=("idle jumps",),
    )


def budget(case: Case) -> Advice | None:
    """Goals that were not reached."""
    reached = case.result.reached
    if reached is None or "goals missed" not in case.names:
        return None
    spent = reached.ended_by in BUDGETS
    return Advice(
        cause="goals missed",
        seen=f"the budget of {reached.ended_by} is spent" if spent else "a goal cannot be computed",
        cure=f"a larger budget, Until({reached.ended_by}=...), or a goal within it"
        if spent
        else "the advice above: more draws do not help",
        rework="patience" if spent else "",
        warnings=("goals missed",),
    )


def stopped(case: Case) -> Advice | None:
    """A run that did not come to its end."""
    if "incomplete run" not in case.names:
        return None
    return Advice(
        cause="incomplete run",
        seen="it was stopped, or it failed",
        cure=_resumed(case)
        if case.result.folder
        else "the same call again, with store= so that it can be resumed",
        rework="patience",
        warnings=("incomplete run",),
    )


def unknown(case: Case) -> Advice | None:
    """What no other rule has a cause for."""
    return Advice(
        cause="a cause that no rule tells",
        seen="what was seen fits none that is known",
        cure=f"{case.longer}draws={case.draws}; then another parametrisation, or starts elsewhere",
        changes={"draws": case.draws, **case.longer_change},
        warnings=tuple(case.names),
    )


def _resumed(case: Case) -> str:
    folder = case.result.folder
    return f"temperance resume {folder} MODULE:MODEL, or temperance.resume({folder!r}, model)"
