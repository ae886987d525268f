"""Causes in the ladder: too cold at the top, an edge that nothing crosses, a prior that should be apart."""

from temperance.results.causes.advice import Advice
from temperance.results.causes.case import Case
from temperance.results.causes.policy import LIMITS
from temperance.results.warnings.ladder import levels_for_edges, levels_for_heat, useful_levels
from temperance.results.warnings.policy import CURES
from temperance.results.warnings.signs import dead_edges, slowest_edge

DRAWS = frozenset({"missed mode", "chains differ", "low ESS"})
HARD = frozenset({"too few levels", "dead edge", "missed mode"})
APART = (
    "prior and likelihood apart (log_prior=, log_likelihood=), if the target has a prior: the hottest level "
    "is then the prior, from which every mode is in reach"
)


def too_cold(case: Case) -> Advice | None:
    """More heat would open what is closed."""
    levels = _bounded(case, levels_for_heat(case.result))
    if "too few levels" not in case.names or not levels:
        return None
    return Advice(
        cause="too cold at the top",
        seen="there is one level, which is cold"
        if case.result.n_levels_at_start == 1
        else "the hottest level still has several modes, and heat was still helping",
        cure=f"more levels, which raises the hottest temperature: levels={levels}",
        changes={"levels": levels},
        warnings=tuple(DRAWS | {"too few levels", "no round trips", "dead edge"}),
    )


def cut_down(case: Case) -> Advice | None:
    """Chains that sit in one mode each look unimodal, and their ladders are cut down to nothing."""
    start, least = case.result.n_levels_at_start, case.result.setup.min_levels
    if "missed mode" not in case.serious or min(case.result.n_levels) > least or start <= least:
        return None
    levels = _bounded(case, CURES.max_growth * start)
    if not levels:
        return None
    return Advice(
        cause="a ladder that was cut down",
        seen="chains that sit in one mode each look unimodal, so that their hot levels were dropped",
        cure=f"levels={levels}, kept by Trimming(min_levels={levels})",
        changes={"levels": levels, "settings.trimming.min_levels": levels},
        warnings=tuple(DRAWS | {"dead edge", "no round trips", "too many levels"}),
    )


def broken(case: Case) -> Advice | None:
    """A barrier between two levels that hardly anything crosses."""
    if "dead edge" not in case.names:
        return None
    at_bound = "too many levels" in case.names and not case.only_one_mode
    levels = 0 if at_bound else _bounded(case, levels_for_edges(case.result))
    if levels or case.tune:
        cure = (
            f"levels={levels}" if levels else f"tune={case.tune}, so that the levels move to where they help"
        )
        changes = {"levels": levels} if levels else case.longer_change
        return Advice(
            cause="dead edge",
            seen=_where_dead(case),
            cure=cure,
            changes=changes,
            warnings=tuple(
                DRAWS | {"dead edge", "no round trips", *(["too many levels"] if at_bound else [])}
            ),
        )
    return None


def prior_apart(case: Case) -> Advice | None:
    """A ladder that ends in the prior knows all modes that the prior does."""
    by_chance = "missed mode" in case.serious and case.modes_are_mixed
    if (
        case.has_prior
        or not case.serious & HARD
        or (by_chance and not case.serious & (HARD - {"missed mode"}))
    ):
        return None
    return Advice(
        cause="a prior that should be apart",
        seen="the target is one function, all of which is heated, and the ladder did not suffice",
        cure=APART,
        rework="apart",
        warnings=tuple(HARD | {"chains differ", "low ESS"}),
    )


def no_journeys(case: Case) -> Advice | None:
    """Too few draws for the journeys of positions through the ladder."""
    if "no round trips" not in case.names:
        return None
    even_odd = case.result.swap_strategy == "even-odd"
    draws = max(case.draws, CURES.round_trip_draws * case.result.draws.shape[1])
    return Advice(
        cause="too few draws for so long a ladder",
        seen="neighbouring levels exchange, but no position went all the way and back",
        cure=f"draws={draws}" + ("" if even_odd else ", or swaps=temperance.swaps.even_odd()"),
        changes={"draws": draws},
        warnings=("no round trips", "chains differ", "low ESS", "unknown accuracy"),
    )


def levels_that_help(case: Case) -> int:
    """Levels to do with, where all is well without the others and their edges are far from dead; else zero.

    So nobody is sent down to a ladder from which he is sent up again.
    """
    if case.serious:
        return 0
    if case.only_one_mode:
        return max(case.result.n_levels)
    useful = useful_levels(case.result)
    healthy = all(slowest_edge(chain, useful) > LIMITS.healthy_edge for chain in case.result.chains)
    return useful if healthy and useful >= 2 else 0


def _bounded(case: Case, wanted: int) -> int:
    """More levels than there were, no more than can help; zero where none can."""
    start = case.result.n_levels_at_start
    if case.hottest >= case.proper_below or start >= LIMITS.most_levels:
        return 0
    levels = min(max(wanted, start + 1), CURES.max_growth * start, LIMITS.most_levels)
    return levels if start > 1 else max(levels, CURES.first_ladder)


def _where_dead(case: Case) -> str:
    edges = sorted({edge for chain in case.result.chains for edge in dead_edges(chain)})
    return f"hardly a position crossed between levels {', '.join(f'{e + 1}-{e + 2}' for e in edges)}"
