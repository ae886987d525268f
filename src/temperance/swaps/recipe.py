"""Strategies as plain values: a built-in one goes by its function and its arguments.

A user's weight or metric is a function, which is never stored. It goes by its name, and whoever reads that
back has to give the strategy again.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from temperance.checks import instance_of, one_of
from temperance.errors import InvalidInputError
from temperance.origin import function_name
from temperance.plain import exactly, record, to_plain
from temperance.swaps.strategy import Recipe, Strategy

Arguments = ParamSpec("Arguments")
USERS_OWN = "function"  # the key under which the name of a user's function is kept

FACTORIES: dict[str, Callable[..., Strategy]] = {}


def built_in(factory: Callable[Arguments, Strategy]) -> Callable[Arguments, Strategy]:
    """Let the strategies that a function makes know how they were made."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def made(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Strategy:
        strategy = factory(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = tuple((name, _settled(value)) for name, value in bound.arguments.items())
        object.__setattr__(strategy, "recipe", Recipe(factory.__name__, arguments))
        return strategy

    FACTORIES[factory.__name__] = made
    return made


def strategy_to_plain(strategy: Strategy) -> dict[str, Any]:
    """The name that people read, the function and its arguments; no function if it was made by hand."""
    if strategy.recipe is None:
        return {"name": strategy.name, "made_by": None, "arguments": {}}
    arguments = {
        name: {USERS_OWN: function_name(value)} if callable(value) else to_plain(value)
        for name, value in strategy.recipe.arguments
    }
    return {"name": strategy.name, "made_by": strategy.recipe.made_by, "arguments": arguments}


def strategy_from_plain(plain: Any, given: Strategy | None, name: str) -> Strategy:
    """The strategy that `strategy_to_plain` described, made anew, or given again and the same."""
    stored = record(name, plain, ("name", "made_by", "arguments"))
    exactly(dict, stored["arguments"], f"{name}.arguments")
    strategy = _made(stored, name) if given is None else given
    instance_of("swaps", strategy, Strategy, f"the strategy {_call(stored)}")
    if strategy_to_plain(strategy) != stored:
        came = _call(strategy_to_plain(strategy))
        raise InvalidInputError(f"{name} must be the strategy {_call(stored)}, got {came}")
    return strategy


def _made(stored: dict[str, Any], name: str) -> Strategy:
    made_by, arguments = stored["made_by"], stored["arguments"]
    if made_by is None or any(isinstance(value, dict) for value in arguments.values()):
        raise InvalidInputError(
            f"{name}: {stored['name']!r} has a function of yours in it, which is not stored; "
            f"give swaps={_call(stored)} again"
        )
    factory = FACTORIES[one_of(f"{name}.made_by", made_by, sorted(FACTORIES))]
    return factory(**record(f"{name}.arguments", arguments, tuple(inspect.signature(factory).parameters)))


def _call(stored: dict[str, Any]) -> str:
    """A described strategy as one would type it."""
    if stored["made_by"] is None:
        return f"Strategy(name={stored['name']!r}, ...)"
    shown = [
        f"{key}={value[USERS_OWN] if isinstance(value, dict) else repr(value)}"
        for key, value in stored["arguments"].items()
    ]
    return f"{stored['made_by']}({', '.join(shown)})"


def _settled(value: Any) -> Any:
    """An argument that can neither change nor be told apart by its container."""
    if callable(value) or isinstance(value, str):
        return value
    settled = np.asarray(value).tolist()
    return tuple(settled) if isinstance(settled, list) else settled
