"""How a run was set up, in numbers and words that outlive it."""

import functools
import platform
from importlib import metadata

from temperance.core.compile import kernel_digest
from temperance.core.numba_internals.processor import processor_name
from temperance.runs.plan import Plan, unimodal_scale, walk_acceptance
from temperance.runs.record import RunSetup
from temperance.settings import settings_to_plain


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
        settings={"log density": plan.target.name, **settings_to_plain(plan.settings)},
        versions=versions(),
    )


def versions() -> dict[str, str]:
    """What may change the draws of a seed."""
    packages = {name: _version(name) for name in ("temperance", "numpy", "numba")}
    machine = f"{platform.system()} {platform.machine()}"
    return {**packages, "python": platform.python_version(), "machine": machine}


def exactness() -> dict[str, str]:
    """What must be the same for draws to be the same in all bits: versions, kernels and the processor."""
    return {**versions(), "processor": processor_name(), "kernels": kernel_digest()}


@functools.cache  # a file is read for it
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # sources on the path, not installed
        return "unknown"
