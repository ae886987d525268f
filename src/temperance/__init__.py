"""Adaptive parallel tempering for densities with many modes."""

from temperance import moves, numpyro, priors, pymc, swaps, zoo
from temperance.errors import (
    BoundWarning,
    DamagedFileError,
    DamageWarning,
    DensityError,
    ExactnessWarning,
    FlatDensityWarning,
    IncompleteWarning,
    InvalidInputError,
    InvalidTypeError,
    LearningWarning,
    MoveError,
    PoolError,
    RunError,
    StartError,
    StoreError,
    SwapWeightError,
    TemperanceError,
    TemperanceWarning,
    VaryingDensityWarning,
)
from temperance.executors.pool import Pool
from temperance.models.model import Model
from temperance.models.offsets import offsets
from temperance.results import diagnostics, plots
from temperance.results.result import Result
from temperance.results.warnings import ResultWarning
from temperance.runs.facts import Progress
from temperance.runs.stopping import Stop
from temperance.sampling import load, resume, sample
from temperance.searching import Search
from temperance.settings import Adaptation, Bounds, Gain, Growth, Jumps, Settings, Trimming, paper_settings
from temperance.stored import holds_run
from temperance.until import Until

__version__ = "0.2.0"

__all__ = [
    "Adaptation",
    "BoundWarning",
    "Bounds",
    "DamageWarning",
    "DamagedFileError",
    "DensityError",
    "ExactnessWarning",
    "FlatDensityWarning",
    "Gain",
    "Growth",
    "IncompleteWarning",
    "InvalidInputError",
    "InvalidTypeError",
    "Jumps",
    "LearningWarning",
    "Model",
    "MoveError",
    "Pool",
    "PoolError",
    "Progress",
    "Result",
    "ResultWarning",
    "RunError",
    "Search",
    "Settings",
    "StartError",
    "Stop",
    "StoreError",
    "SwapWeightError",
    "TemperanceError",
    "TemperanceWarning",
    "Trimming",
    "Until",
    "VaryingDensityWarning",
    "diagnostics",
    "holds_run",
    "load",
    "moves",
    "numpyro",
    "offsets",
    "paper_settings",
    "plots",
    "priors",
    "pymc",
    "resume",
    "sample",
    "swaps",
    "zoo",
]
