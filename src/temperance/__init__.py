"""Adaptive parallel tempering for densities with many modes."""

from temperance import moves, priors, swaps, zoo
from temperance.errors import (
    BoundWarning,
    DensityError,
    IncompleteWarning,
    InvalidInputError,
    InvalidTypeError,
    LearningWarning,
    MoveError,
    RunError,
    StartError,
    SwapWeightError,
    TemperanceError,
    TemperanceWarning,
)
from temperance.models.model import Model
from temperance.models.offsets import offsets
from temperance.results import diagnostics, plots
from temperance.results.result import Result
from temperance.results.warnings import ResultWarning
from temperance.sampling import load, sample
from temperance.settings import Adaptation, Bounds, Gain, Jumps, Settings, Trimming, paper_settings

__version__ = "0.1.0"

__all__ = [
    "Adaptation",
    "BoundWarning",
    "Bounds",
    "DensityError",
    "Gain",
    "IncompleteWarning",
    "InvalidInputError",
    "InvalidTypeError",
    "Jumps",
    "LearningWarning",
    "Model",
    "MoveError",
    "Result",
    "ResultWarning",
    "RunError",
    "Settings",
    "StartError",
    "SwapWeightError",
    "TemperanceError",
    "TemperanceWarning",
    "Trimming",
    "diagnostics",
    "load",
    "moves",
    "offsets",
    "paper_settings",
    "plots",
    "priors",
    "sample",
    "swaps",
    "zoo",
]
