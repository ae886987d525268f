"""How a run was set up, in numbers and words that outlive it."""

import platform
from dataclasses import fields, is_dataclass
from importlib import metadata
from typing import Any

from temperance.runs.plan import Plan, unimodal_scale, walk_acceptance
from temperance.runs.record import RunSetup
from temperance.swaps import Strategy


def describe(plan: Plan) -> RunSetup:
    """The setup of a plan."""
    adaptation, trimming = plan.settings.adaptation, plan.settings.trimming
    return RunSetup(
        draws=plan.draws,
        adapts_always=plan.adapts_for_ever,
        walk_acceptance=walk_acceptance(plan),
        swap_acceptance=float(adaptation.swap_acceptance),
        unimodal_scale=unimodal_scale(plan),
        min_levels=trimming.min_levels if trimming.enabled else plan.n_levels,
        settings={"log density": plan.target.name, **in_words(plan.settings)},
        versions=versions(),
    )


def in_words(value: Any) -> Any:
    """Settings as nested dictionaries of plain values."""
    if isinstance(value, Strategy):
        return value.name
    if is_dataclass(value):
        return {field.name: in_words(getattr(value, field.name)) for field in fields(value)}
    return list(value) if isinstance(value, tuple) else value


def versions() -> dict[str, str]:
    """What may change the draws of a seed."""
    packages = {name: _version(name) for name in ("temperance", "numpy", "numba")}
    machine = f"{platform.system()} {platform.machine()}"
    return {**packages, "python": platform.python_version(), "machine": machine}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # sources on the path, not installed
        return "unknown"
