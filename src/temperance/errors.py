"""The exceptions and warnings a user may meet."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temperance.results.result import Result


class TemperanceError(Exception):
    """Base of all errors raised by this package."""


class InvalidInputError(TemperanceError, ValueError):
    """A parameter has a value that is not allowed."""


class InvalidTypeError(TemperanceError, TypeError):
    """A parameter is of a kind that is not allowed."""


class StartError(InvalidInputError):
    """A chain cannot start where it was told to."""


class RunError(TemperanceError, ArithmeticError):
    """Something failed in the middle of a run.

    ``result`` holds every draw made before, marked incomplete.
    """

    result: "Result | None" = None


class DensityError(RunError):
    """The log density failed: it raised an error, or is NaN or +inf."""


class SwapWeightError(RunError):
    """The weight of a pair of levels is negative, infinite or NaN, or its function raised an error."""


class MoveError(RunError):
    """A move broke its contract: a ratio that is NaN, more evaluations than it declared, or no freezing."""


class TemperanceWarning(UserWarning):
    """Base of all warnings issued by this package."""


class BoundWarning(TemperanceWarning):
    """An adapted quantity reached the edge of its compact set."""


class LearningWarning(TemperanceWarning):
    """Something could not be learnt while tuning, and stayed as it was."""


class IncompleteWarning(TemperanceWarning):
    """A run ended early; its result holds what was drawn so far."""
