"""Causes in the tuning: too short, or ended before the chains had arrived."""

from typing import TYPE_CHECKING

import numpy as np

from temperance.core.state import FloatArray
from temperance.results.causes.advice import Advice
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS
from temperance.results.causes.starts import last_draws
from temperance.results.warnings.moving import stays_of
from temperance.results.warnings.signs import missing_chains
from temperance.results.warnings.warning import listed, listed_kept
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

DRAWS = frozenset({"chains differ", "low ESS", "unknown accuracy", "hardly moved"})
STUCK = frozenset({"never moved", "hardly moved", "dead edge"})
MODES = frozenset({"missed mode", "unknown mode", "idle jumps"})
LADDER = frozenset({"dead edge", "no round trips", "too few levels"})


def not_arrived(case: Case) -> Advice | None:
    """The log density of the draws still rose."""
    explains = DRAWS | LADDER | {"still adapting", "missed mode"}
    rising = [k for k, chain in enumerate(case.result.kept) if _rises(chain)]
    if not rising or not case.tune:
        return None
    return Advice(
        cause="chains not arrived",
        seen=f"in {listed_kept(case.result, rising)} the log density rose from the first quarter of the "
        "draws to the last by more than it varies",
        cure=f"tune={case.tune}, with starts where this run ended: the last draw of each chain",
        changes={**case.longer_change, **last_draws(case.result)},
        warnings=tuple(explains),
    )


def too_short(case: Case) -> Advice | None:
    """Adaptation had not settled, or is known to need more iterations in so many dimensions."""
    seen = _short_by(case)
    if not seen or not case.tune:
        return None
    return Advice(
        cause="too short a tuning",
        seen=seen,
        cure=f"tune={case.tune}",
        changes=case.longer_change,
        warnings=tuple(
            DRAWS | {"never moved", "still adapting", "dead edge", "no round trips", "idle jumps"}
        ),
    )


def stuck(case: Case) -> Advice | None:
    """Draws that stand still after a tuning of the usual length."""
    if "hardly moved" not in case.names:
        return None
    return Advice(
        cause="chains that are stuck",
        seen="after a tuning of the usual length, steps are hardly ever accepted",
        cure=f"another start{f', and tune={case.tune}' if case.tune else ''}; other units, if the widths "
        "of the "
        "coordinates differ by many powers of ten",
        changes=case.longer_change,
        rework="elsewhere",
        warnings=tuple(DRAWS | {"missed mode", "dead edge", "no round trips"}),
    )


def stayed(case: Case) -> Advice | None:
    """A chain that sits on a point, and moves elsewhere."""
    if "stuck chain" not in case.names:
        return None
    who = listed_kept(case.result, list(stays_of(case.result)))
    return Advice(
        cause="a spike",
        seen=f"{who} sat on one point, from which no step was accepted",
        cure="look at the density there: a scale that goes to zero at a single observation needs a prior "
        "that keeps it away from zero (tp.priors.log_normal, or gamma with a shape above 1)"
        + (f"; if all is as it should be, tune={case.tune}" if case.tune else ""),
        changes=case.longer_change,
        rework="density",
        warnings=tuple(DRAWS | MODES | {"stuck chain"}),
    )


def not_learnt(case: Case) -> Advice | None:
    """Modes that some chains have not learnt, or none has."""
    if not case.tune or not case.names & {"missed mode", "unknown mode"}:
        return None
    chains = _ignorant(case.result)
    if not chains and "unknown mode" not in case.names:
        return None
    who = listed_kept(case.result, chains) if chains else "each chain"
    return Advice(
        cause="modes not learnt",
        seen=f"{who} did not learn of a mode while tuning, so that jumps do not lead there",
        cure=f"longer tuning, in which all chains may learn of it: tune={case.tune}",
        changes=case.longer_change,
        warnings=tuple(MODES | {"chains differ", "low ESS"}),
    )


def _short_by(case: Case) -> str:
    """What shows that the tuning was too short, in words; nothing where nothing does."""
    if not case.result.n_tune:
        return "there was no tuning"
    if case.moving:
        return f"scales or temperatures of {listed(case.moving, 'chain')} still moved when the draws began"
    stuck = case.serious & STUCK or case.draws_needed > LIMITS.most_draws
    if stuck and case.is_short:
        return (
            f"{case.result.n_tune:,} iterations, where {case.usual_tune:,} are usual in {case.result.dim} "
            "dimensions"
        )
    return ""


def _ignorant(result: "Result") -> list[int]:
    """Chains without draws in a mode to which others have learnt to jump, and they have not."""
    modes = result.modes
    if not len(modes):
        return []
    unknown = (modes.share == 0.0) & ~modes.learnt & np.any(modes.learnt, axis=0)
    return [k for k in missing_chains(result) if np.any(unknown[k])]


def _rises(chain: ChainRecord) -> bool:
    """From the first quarter to the last, by more than it varies in the last half."""
    if not len(chain.sampling.log_density):
        return False
    values: FloatArray = chain.sampling.log_density[:, 0] + chain.sampling.log_prior
    quarter = len(values) // 4
    if not quarter:
        return False
    with np.errstate(all="ignore"):
        spread = values[-quarter:].std()
        return bool(values[-quarter:].mean() - values[:quarter].mean() > LIMITS.trend * spread)
