"""Whether a run fits into the memory of this machine, and what takes how much of it."""

import os
from pathlib import Path

from temperance.errors import InvalidInputError
from temperance.runs.allocate import (
    covariance_bytes,
    recorded_columns,
    row_bytes,
    sampling_bytes,
    tuning_bytes,
)
from temperance.runs.plan import Plan
from temperance.runs.window import window_rows

GIB = 2**30
WINDOWS = 3  # of a chain with a store: one that is filled, one that waits, one that is written
UNLIMITED = 2**60
SHARE = 0.8  # of what is free: arrays that are worked with want room, too
# What a container may use and what it uses, under the two kinds of control groups.
GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def require_memory(plan: Plan, chains: int, *, stored: bool, limit: float | None) -> None:
    """Refuse a run that needs more memory than there is, or than the limit in GiB that was given."""
    parts = needed(plan, chains, stored=stored)
    allowed = SHARE * available() if limit is None else limit * GIB
    if sum(parts.values()) <= allowed:
        return
    shares = ", ".join(f"{_gib(size)} for {what}" for what, size in parts.items())
    cure = "" if stored else "; a store (store='folder') keeps draws on disk instead"
    whose = "of what is free may be taken" if limit is None else "are allowed by memory_limit"
    raise InvalidInputError(
        f"{chains} chains x {plan.n_levels} levels in {plan.dim} dimensions need {_gib(sum(parts.values()))} "
        f"({shares}), and {_gib(allowed)} {whose}; use fewer levels, chains or draws, thin= or "
        f"keep='draws', or allow more (memory_limit=..., in GiB){cure}"
    )


def needed(plan: Plan, chains: int, *, stored: bool) -> dict[str, int]:
    """Bytes that the parts of a run take."""
    window = window_rows(plan) * row_bytes(plan, recorded_columns(plan))
    return {
        "covariances": chains * covariance_bytes(plan),
        "tuning": chains * tuning_bytes(plan),
        "draws": chains * (WINDOWS * window if stored else sampling_bytes(plan)),
    }


def available() -> float:
    """Bytes of memory that are free, for this machine and for the container that we may be in."""
    free = [_of_the_machine()]
    for most, used in GROUPS:
        limit = _number(most)
        if limit is not None and limit < UNLIMITED:
            free.append(limit - (_number(used) or 0))
    return float(min(free))


def _of_the_machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        facts = dict(line.split(":", 1) for line in lines)
        return int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return _installed()


def _installed() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover  a system that does not tell
        return UNLIMITED


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):  # there is none, or it says "max"
        return None


def _gib(size: float) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB / 10 else f"{size / 2**20:.0f} MiB"
