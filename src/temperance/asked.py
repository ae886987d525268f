"""What a call asks for, checked: draws, starts, settings, memory, goals."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from temperance import zoo
from temperance.checks import instance_of, number_between, one_of, whole_number
from temperance.core.state import FloatArray
from temperance.errors import ExactnessWarning, InvalidInputError
from temperance.models.contract import ModelSpec
from temperance.models.reference import ZOO
from temperance.runs.chain import ChainRun
from temperance.runs.describe import exactness
from temperance.runs.fingerprint import require_same_target
from temperance.runs.keep import STATISTICS
from temperance.runs.memory import require_memory
from temperance.runs.plan import LONGEST_TUNE, Plan, default_tune
from temperance.runs.preflight import Glance
from temperance.runs.starts import Starts
from temperance.runs.stopping import Stop
from temperance.searching import Search
from temperance.settings import Settings
from temperance.swaps import Strategy
from temperance.until import Until, bounded, until_from_plain, until_to_plain

INF = float("inf")
TUNING_SHARE = 0.5  # of a budget of evaluations, where tune is left open (docs/stopping.md)
MIN_DRAWS = 4  # from which on there is something to look at


def known_model(stored: dict[str, Any]) -> Any:
    """The target of the zoo that a run was made of; the functions of others have to be given."""
    home, _, name = (stored["reference"] or "").partition(":")
    if home == ZOO:
        return zoo.get(name)
    called = stored["setup"]["settings"]["log density"]
    raise InvalidInputError(
        f"model must be given again, since functions are never stored: {called}, as model= or MODULE:MODEL"
    )


def checked_thin(thin: Any, draws: int) -> int:
    """Draws that are made for each that is kept."""
    number = whole_number("thin", thin, least=1)
    if number > max(draws, 1):
        raise InvalidInputError(f"thin must not be more than the {draws} draws that are made, got {thin}")
    return number


def checked_stop(stop: Stop | None) -> Stop:
    """The handle that was given, or one that nobody has."""
    if stop is None:
        return Stop()
    instance_of("stop", stop, Stop, "a temperance.Stop")
    return stop


def check_memory(plan: Plan, chains: int, folder: Path | None, limit: float | None) -> None:
    """Refuse a run that needs more memory than there is, or than was allowed."""
    if limit is not None:
        number_between("memory_limit", limit, 0.0, INF)
    require_memory(plan, chains, stored=folder is not None, limit=limit)


def draws_in_all(draws: int | None, stored: dict[str, Any], plan: Plan) -> int:
    """How many draws there are to be in all."""
    if draws is None:
        return plan.draws
    least = look_of(stored, plan)
    if whole_number("draws", draws, least=0) < least:
        raise InvalidInputError(
            f"draws must not be fewer than the {least} a chain that the run was to make, got {draws}"
        )
    return draws


def check_sameness(run: ChainRun, stored: dict[str, str]) -> None:
    """Refuse another target, and say so where the last bits may differ."""
    equal = require_same_target(run)
    now = exactness()
    changed = [f"{key} {stored.get(key)} -> {now[key]}" for key in now if now[key] != stored.get(key)]
    if changed or not equal:
        why = f"these changed since the run began: {', '.join(changed)}" if changed else "its values differ"
        seen = "" if equal else ", and the log density has other last bits"
        warnings.warn(
            f"the run goes on correctly, but not promised to be the same in all bits: {why}{seen}",
            ExactnessWarning,
            stacklevel=3,
        )


def starts_of(spec: ModelSpec, initial: Any, seed: np.random.SeedSequence) -> Starts:
    """Where chains start: as told, or where the model says."""
    probe = np.random.default_rng(seed)
    if initial is not None:
        given = initial if spec.unconstrain is None else spec.unconstrain(initial)
        return Starts(given, probe, dim=spec.dim)
    if spec.start is None and spec.improper:
        raise InvalidInputError(
            f"initial must be given, since the prior of {spec.improper[0]!r} cannot be drawn from: a dict of "
            "parameters"
        )
    if spec.start is None:
        raise InvalidInputError(
            f"initial must be given, since {spec.target.name} does not say where to start: a point, or a "
            "function of a numpy Generator"
        )
    return Starts(spec.start, probe, dim=spec.dim, name="model.start")


def require_proper(spec: ModelSpec, betas: FloatArray) -> None:
    """A ladder may end in the prior where there is a proper one."""
    if spec.improper and betas[-1] == 0.0:
        raise InvalidInputError(
            f"a ladder may reach beta = 0 only with a proper prior, and that of {spec.improper[0]!r} is not; "
            "end it above zero"
        )


def settings_with(
    settings: Settings | None,
    adapt: Literal["tuning", "always"] | None,
    swaps: Strategy | None,
    *,
    refuses_bad: bool,
) -> Settings:
    """The settings, with what was said in the call put in, and what the model asks for."""
    chosen = Settings() if settings is None else settings
    instance_of("settings", chosen, Settings, "a temperance.Settings")
    if refuses_bad:
        chosen = replace(chosen, bad_density="reject")
    if swaps is not None:
        chosen = replace(chosen, swaps=swaps)
    if adapt is not None:
        one_of("adapt", adapt, ("tuning", "always"))
        chosen = replace(chosen, adaptation=replace(chosen.adaptation, when=adapt))
    return chosen


def tuning_of(tune: Any, until: Any, *, dim: int, levels: int, chains: int) -> tuple[int, int]:
    """Tuning iterations, and how long they may become; where both are left open, a budget is shared.

    All levels of all chains are evaluated while tuning. So that draws have half of a budget of evaluations
    at least, tuning takes no longer than the other half pays for, and within that becomes as long as it is
    without a budget: longer where jumps are poor and rising.
    """
    if tune is not None:
        return whole_number("tune", tune, least=0), 0
    usual, longest = default_tune(dim), LONGEST_TUNE * default_tune(dim)
    if not isinstance(until, Until) or until.evaluations is None:
        return usual, longest
    affordable = max(1, int(TUNING_SHARE * until.evaluations / (chains * levels)))
    return min(usual, affordable), min(longest, affordable)


def goals_of(until: Any, plan: Plan, draws: int) -> Until | None:
    """What a run is to reach, bounded; ``draws`` are those of the first look."""
    if until is None:
        return None
    instance_of("until", until, Until, "a temperance.Until")
    if draws < MIN_DRAWS:
        raise InvalidInputError(f"draws must be at least {MIN_DRAWS} with until, got {draws}")
    if until.evaluations is not None and STATISTICS not in plan.keep:
        raise InvalidInputError(f"keep must have {STATISTICS!r} for until.evaluations, got {plan.keep!r}")
    if until.evaluations is not None and until.evaluations < plan.chains * plan.tune:
        raise InvalidInputError(
            f"until.evaluations must be at least {plan.chains * plan.tune}, one for each iteration of the "
            f"tuning of {plan.chains} chains, got {until.evaluations}"
        )
    return bounded(until, draws=draws, chains=plan.chains)


def stored_goals(until: Any, draws: int | None, stored: dict[str, Any], plan: Plan) -> Until | None:
    """What a run in a folder is to reach: what was said now, or before; nothing, if draws were asked for."""
    known = stored["setup"].get("until")
    if until is None and (draws is not None or known is None):
        return None
    if draws is not None:
        raise InvalidInputError(
            f"draws must be left out with until, which says how many there may be; got {draws}"
        )
    given = until_from_plain(known) if until is None else until
    return goals_of(given, plan, look_of(stored, plan))


def look_of(stored: dict[str, Any], plan: Plan) -> int:
    """The draws at which a run in a folder is looked at next."""
    return int(stored.get("look", plan.draws))


def facts_about(
    runs: Sequence[ChainRun],
    goals: Until | None,
    spec: ModelSpec,
    seen: Sequence[Glance],
    *,
    unimodal: bool,
    search: Search | None = None,
) -> dict[str, Any]:
    """What is said of the setup of a run beside its plan; chains are at their starts."""
    return {
        "n_preflight": sum(glance.n_points for glance in seen),
        "preflight": {name: value for glance in seen for name, value in glance.facts.items()},
        "n_starts": len(
            np.unique(np.concatenate([run.state.position[: run.plan.n_levels] for run in runs]), axis=0)
        ),
        "unimodal": bool(unimodal),
        "search": "" if search is None else search.source,
        "until": None if goals is None else until_to_plain(goals),
        "priors": dict(spec.priors),
    }


def stored_about(stored: dict[str, Any], goals: Until | None) -> dict[str, Any]:
    """The same of a run in a folder."""
    known = {
        name: stored["setup"][name]
        for name in ("n_preflight", "preflight", "n_starts", "unimodal", "search", "priors")
        if name in stored["setup"]
    }
    return {**known, "until": None if goals is None else until_to_plain(goals)}
