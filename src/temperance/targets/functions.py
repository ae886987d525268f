"""What is common to all kinds of density functions: names, arity, and what they may return."""

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from temperance.errors import InvalidInputError, InvalidTypeError
from temperance.origin import function_name
from temperance.targets.foreign import compiled_from


class Absent(enum.Enum):
    """What stands for data that nobody gave; it is still the same after a journey to another process."""

    DATA = enum.auto()


NO_DATA = Absent.DATA


@dataclass(frozen=True)
class Functions:
    """The user's functions: the tempered part, the untempered part if any, and their data."""

    tempered: Callable[..., Any]
    parameter: str  # what the user called it: log_density or log_likelihood
    prior: Callable[..., Any] | None = None
    data: Any = NO_DATA

    @property
    def name(self) -> str:
        """The tempered function's own name."""
        return function_name(self.tempered)


def gather(
    log_density: Any = None, log_likelihood: Any = None, log_prior: Any = None, data: Any = None
) -> Functions:
    """Check that the functions fit together: one density, or a likelihood with a prior."""
    if log_density is not None and (log_likelihood is not None or log_prior is not None):
        raise InvalidInputError(
            "a whole log density cannot be combined with log_likelihood or log_prior; "
            "give either the one or the other two"
        )
    if log_density is None and (log_likelihood is None or log_prior is None):
        raise InvalidInputError(
            "a target is a log density, or log_likelihood and log_prior together; "
            f"got {_given(log_density, log_likelihood, log_prior)}"
        )
    parameter = "log_density" if log_density is not None else "log_likelihood"
    log_density, log_likelihood, log_prior = map(compiled_from, (log_density, log_likelihood, log_prior))
    tempered = log_density if log_density is not None else log_likelihood
    for label, function in ((parameter, tempered), ("log_prior", log_prior)):
        if function is not None and not callable(function):
            raise InvalidTypeError(f"{label} must be a function, got {type(function).__name__}")
    functions = Functions(tempered, parameter, log_prior, NO_DATA if data is None else data)
    if isinstance(data, list):
        raise InvalidTypeError("data must be an array or a tuple of arrays, got a list; write tuple(data)")
    _check_arity(functions)
    return functions


def takes_data(function: Any) -> bool:
    """Whether a function wants ``(x, data)`` rather than ``(x)``."""
    try:
        parameters = inspect.signature(getattr(function, "py_func", function)).parameters.values()
    except (TypeError, ValueError):  # some builtins tell no signature
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len([p for p in positional if p.default is p.empty]) == 2


def _check_arity(functions: Functions) -> None:
    users = [f for f in (functions.tempered, functions.prior) if f is not None and takes_data(f)]
    if functions.data is NO_DATA and users:
        raise InvalidTypeError(
            f"{function_name(users[0])} takes two arguments, (x, data), but data= was not given"
        )
    if functions.data is not NO_DATA and not users:
        raise InvalidTypeError(
            f"data= was given, but {functions.name} does not take it; write it as a function of (x, data)"
        )


def _given(*functions: Any) -> str:
    labels = ("log_density", "log_likelihood", "log_prior")
    names = [label for label, function in zip(labels, functions, strict=True) if function is not None]
    return " and ".join(names) or "none of them"
