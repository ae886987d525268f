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


class DamagedFileError(InvalidInputError):
    """A file is not as it was written, or is gone; the message names it."""


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


class PoolError(RunError):
    """Workers failed, not the log density: they died or hung over the same points, or their pool is gone."""


class StoreError(RunError, OSError):
    """What was drawn could not be written, as on a full disk; what was committed before stays readable."""


class TemperanceWarning(UserWarning):
    """Base of all warnings issued by this package."""


class BoundWarning(TemperanceWarning):
    """An adapted quantity reached the edge of its compact set."""


class FlatDensityWarning(TemperanceWarning):
    """The log density does not fall off far away from the start."""


class VaryingDensityWarning(TemperanceWarning):
    """The log density gave two values at one point."""


class LearningWarning(TemperanceWarning):
    """Something could not be learnt while tuning, and stayed as it was."""


class IncompleteWarning(TemperanceWarning):
    """A run ended early; its result holds what was drawn so far."""


class DamageWarning(TemperanceWarning):
    """A file of a run on disk is damaged; what is before it was read."""


class ExactnessWarning(TemperanceWarning):
    """A run goes on under other versions or on another machine, where the last bits may differ."""
