"""Makes docs/interactive/twenty_peaks.html: recorded draws to step through, in one page without a network.

Run with ``make interactive``.
"""

import datetime
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import temperance as tp
from temperance.zoo.peaks import PEAK_SD

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "interactive" / "twenty_peaks.html"
TEMPLATE = Path(__file__).parent / "interactive_template.html"
SEED, DRAWS, LEVELS = 29, 600, 5
UNIT = 100  # positions are kept in hundredths
KEEP = ("draws", "statistics", "proposals", "levels")
NO_JUMP, REFUSED, ACCEPTED = 0, 1, 2
RECORDINGS = {
    "Swaps alone": (
        tp.Jumps(enabled=False),
        "As in the paper: every level walks, and neighbours try to exchange positions. News reaches level 1 "
        "from the hot levels only.",
    ),
    "Swaps and jumps": (
        tp.Jumps(),
        "The default: level 1 jumps between the peaks that were learnt while tuning, and the hot levels rest "
        "most of the time.",
    ),
}


def main() -> None:
    """Sample, and write the page."""
    peaks = tp.zoo.twenty_peaks()
    data = {
        "centres": np.asarray(peaks.modes).tolist(),
        "sd": PEAK_SD,
        "unit": UNIT,
        "recordings": [recording(name, *RECORDINGS[name]) for name in RECORDINGS],
    }
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(data, made_with()), encoding="utf-8")


def page(data: dict[str, Any], facts: str) -> str:
    """The template with its data."""
    text = TEMPLATE.read_text(encoding="utf-8")
    plain = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return text.replace("{{ facts }}", facts).replace("{{ data }}", plain)


def made_with() -> str:
    """Seed, versions and date."""
    versions = [f"{name} {metadata.version(name)}" for name in ("numpy", "numba")]
    return (
        f"Seed {SEED}, one chain of {DRAWS} draws after tuning, by default but for {LEVELS} levels at the "
        f"start; temperance {tp.__version__}, Python {platform.python_version()}, {', '.join(versions)}; "
        f"{datetime.date.today()}. Made by <code>make interactive</code>."
    )


def recording(name: str, jumps: tp.Jumps, words: str) -> dict[str, Any]:
    """One run, as the page reads it."""
    settings = tp.Settings(jumps=jumps)
    result = tp.sample(
        tp.zoo.twenty_peaks(), draws=DRAWS, levels=LEVELS, chains=1, seed=SEED, settings=settings, keep=KEEP,
        progress=False,
    )  # fmt: skip
    return {"name": name, "words": words, **recorded(result)}


def recorded(result: tp.Result) -> dict[str, Any]:
    """Positions and replicas of all levels, what was exchanged, and what the base level proposed."""
    chain = result.chains[0]
    trace = chain.sampling
    levels, replicas = (
        trace.level_draws[:, : len(chain.beta)],
        renumbered(trace.replica[:, : len(chain.beta)]),
    )
    positions = np.rint(UNIT * levels).astype(int)
    jumps = jumps_of(trace.jump, trace.proposal, levels)
    proposals = np.rint(UNIT * trace.proposal).astype(int)
    return {
        "temperatures": [float(f"{temperature:.3g}") for temperature in result.temperatures[0]],
        "positions": positions.reshape(len(positions), -1).tolist(),
        "replicas": ["".join(map(str, row)) for row in replicas.tolist()],
        "moved": trace.n_moved.tolist(),
        "attempts": trace.swap_attempts.tolist(),
        "exchanged": exchanged(replicas),
        "jumps": jumps.tolist(),
        "proposals": [
            point if jump != NO_JUMP else [] for point, jump in zip(proposals.tolist(), jumps, strict=True)
        ],
    }


def renumbered(replica: Any) -> Any:
    """The replicas that trimming left, numbered from zero on."""
    return np.searchsorted(np.unique(replica), replica)


def exchanged(replica: Any) -> list[list[int]]:
    """The lower levels of the pairs of neighbours that exchanged positions since the row before."""
    before, after = replica[:-1], replica[1:]
    swapped = (before[:, :-1] == after[:, 1:]) & (before[:, 1:] == after[:, :-1])
    return [[], *(np.flatnonzero(row).tolist() for row in swapped)]


def jumps_of(component: Any, proposal: Any, positions: Any) -> Any:
    """Whether the base level jumped; what it proposed is then where some level is, as swaps come after."""
    there = (positions == proposal[:, None, :]).all(axis=2).any(axis=1)
    return np.where(component < 0, NO_JUMP, np.where(there, ACCEPTED, REFUSED))


if __name__ == "__main__":
    main()
