"""What a run is to reach, and what it may spend on that."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from temperance.checks import number_between, whole_number
from temperance.errors import InvalidInputError
from temperance.plain import from_plain, to_plain

INF = float("inf")
GOALS = ("ess", "weight_error", "r_hat")
MOST_SEGMENTS = 20  # times the first draws, where nothing else says how many there may be in all


@dataclass(frozen=True, kw_only=True)
class Until:
    """Goals of a run, all of which are to be met, and budgets, any of which ends it.

    Parameters
    ----------
    ess
        The effective sample size, of all chains together, in the bulk and in the tails, of the parameter
        where it is smallest.
    weight_error
        The standard error of the weight of a mode, of the one where it is largest.
    r_hat
        R-hat of the parameter where it is largest; there must be several chains to compare.
    draws
        At most so many a chain. None: 20 times the ``draws`` of the call; with a budget of evaluations as
        many as that pays for.
    evaluations
        Of the log density, of all chains together, tuning and scouts included.
    seconds
        Of the run, from its first iteration on; what is compiled before does not count.
    """

    ess: float | None = None
    weight_error: float | None = None
    r_hat: float | None = None
    draws: int | None = None
    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        checks: dict[str, Callable[[str, Any], Any]] = {
            "ess": partial(number_between, low=0.0, high=INF),
            "weight_error": partial(number_between, low=0.0, high=1.0),
            "r_hat": partial(number_between, low=1.0, high=INF),
            "draws": partial(whole_number, least=1),
            "evaluations": partial(whole_number, least=1),
            "seconds": partial(number_between, low=0.0, high=INF),
        }
        for name, check in checks.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check(f"until.{name}", getattr(self, name)))
        if all(getattr(self, name) is None for name in checks):
            raise InvalidInputError(f"until must have a goal or a budget: one of {', '.join(checks)}")

    @property
    def goals(self) -> dict[str, float]:
        """What is to be reached, by name."""
        return {name: value for name in GOALS if (value := getattr(self, name)) is not None}


def bounded(until: Until, *, draws: int, chains: int) -> Until:
    """The same with a number of draws that ends it in any case; ``draws`` are those of the first look."""
    if until.r_hat is not None and chains < 2:
        raise InvalidInputError(
            f"until.r_hat needs chains to compare: chains must be 2 at least, got {chains}"
        )
    most = MOST_SEGMENTS * draws if until.evaluations is None else max(until.evaluations // chains, draws)
    most = most if until.draws is None else until.draws
    if most < draws:
        raise InvalidInputError(f"until.draws must not be fewer than the first {draws} draws, got {most}")
    return replace(until, draws=most)


def until_to_plain(until: Until) -> dict[str, Any]:
    """Goals and budgets as JSON knows them."""
    plain: dict[str, Any] = to_plain(until)
    return plain


def until_from_plain(plain: Any, name: str = "until") -> Until:
    """The goals and budgets that `until_to_plain` described."""
    until: Until = from_plain(Until, plain, name)
    return until


def until_from_words(text: str) -> Until:
    """Goals and budgets as they are typed: ``ess=2000,weight_error=0.01``."""
    known = [field.name for field in fields(Until)]
    given: dict[str, Any] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        if name not in known or name in given:
            raise InvalidInputError(
                f"until must be NAME=NUMBER,... of {', '.join(known)}, each once; got {text!r}"
            )
        given[name] = _number(name, number)
    return Until(**given)


def _number(name: str, text: str) -> float | int:
    try:
        number = float(text.replace("_", ""))
    except ValueError as error:
        raise InvalidInputError(f"until.{name} must be a number, got {text!r}") from error
    return int(number) if number.is_integer() else number
