"""Kill a run again and again, go on with it each time, and compare it with one that nobody disturbed.

    python tools/soak.py [SECONDS] > docs/soak.txt

Each round makes one run in a process that is ended at random times, by SIGKILL, SIGTERM, SIGHUP or a Ctrl-C,
and begun anew, until the run is complete. Its rows must then be those of the same run in one piece.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numba
import numpy as np

import temperance as tp

MINUTES = 10
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
STARTING = 1.0  # seconds before which nothing has begun
SEED = 19


@numba.njit
def peaks(x):
    """Two peaks, made slow."""
    delay = 0.0
    for k in range(1_500):
        delay += np.sin(k + x[0])
    return np.logaddexp(-0.5 * np.sum((x - 3.0) ** 2), -0.5 * np.sum((x + 3.0) ** 2) - 0.5) + 1e-15 * delay


def plain(x):
    """The same without the delay, called from Python."""
    return float(np.logaddexp(-0.5 * np.sum((x - 3.0) ** 2), -0.5 * np.sum((x + 3.0) ** 2) - 0.5))


def rows(points):
    """The same for all levels at once."""
    return np.array([plain(point) for point in points])


COVARIANCE = tp.Settings(
    adaptation=tp.Adaptation(walk="covariance", when="always"), jumps=tp.Jumps(enabled=False)
)
SETUPS = {
    "compiled, jumps": (peaks, {"tune": 100_000, "draws": 300_000, "chains": 2}),
    "compiled, thinned": (peaks, {"tune": 30_000, "draws": 400_000, "chains": 2, "thin": 7}),
    "plain Python": (plain, {"tune": 100_000, "draws": 500_000, "chains": 2, "levels": 4}),
    "everlasting, rows": (
        rows,
        {"tune": 50_000, "draws": 400_000, "chains": 2, "vectorized": True, "settings": COVARIANCE},
    ),
    "all levels kept": (
        peaks,
        {"tune": 20_000, "draws": 200_000, "chains": 3, "keep": ("draws", "statistics", "levels")},
    ),
}


def tell(text: str) -> None:
    """A line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def child(folder: str, name: str, seed: int) -> None:
    """Begin the run of a folder, or go on with it; the status says whether it is complete."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which are ignored in the background
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    density, options = SETUPS[name]
    vectorized = options.get("vectorized", False)
    if list(Path(folder).glob("commit-*")):
        result = tp.resume(folder, density, vectorized=vectorized, progress=False)
    else:
        result = tp.sample(density, initial=np.zeros(3), seed=seed, store=folder, progress=False, **options)
    sys.exit(0 if result.complete else 3)


def disturbed(folder: str, name: str, seed: int, chance: random.Random) -> int:
    """Make a run with as many ends as it takes; how many."""
    command = [sys.executable, "-W", "ignore", __file__, "child", folder, name, str(seed)]
    for ends in range(10_000):
        with subprocess.Popen(command) as process:
            try:
                process.wait(timeout=STARTING + chance.expovariate(0.7))
            except subprocess.TimeoutExpired:
                process.send_signal(chance.choice(SIGNALS))
                if chance.random() < 0.2:
                    process.kill()
        if process.returncode == 0:
            return ends
        if process.returncode not in (3, -9, -15, -2, -1, 1, 130):
            raise SystemExit(f"{name}: a run ended with status {process.returncode}")
    raise SystemExit(f"{name}: no end")


def differences(one: tp.Result, other: tp.Result) -> list[str]:
    """The columns that are not the same in all bits."""
    wrong = []
    for chain, (mine, theirs) in enumerate(zip(one.chains, other.chains, strict=True)):
        for phase in ("tuning", "sampling"):
            for column in mine.tuning._fields:
                pair = [getattr(getattr(record, phase), column) for record in (mine, theirs)]
                if not np.array_equal(*pair, equal_nan=pair[0].dtype.kind == "f"):
                    wrong.append(f"{chain}.{phase}.{column}")
        if not np.array_equal(mine.covariance, theirs.covariance):
            wrong.append(f"{chain}.covariance")
    return wrong


def round_of(number: int, name: str, chance: random.Random) -> tuple[int, bool]:
    """One run, made twice; how often it was ended, and whether all is the same."""
    seed = chance.randrange(2**32)
    density, options = SETUPS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = f"{place}/run"
        ends = disturbed(folder, name, seed, chance)
        n_files = len(os.listdir(folder))
        with warnings.catch_warnings():
            warnings.simplefilter("error", tp.TemperanceWarning)
            kept = tp.load(folder, verify=True)
            whole = tp.sample(density, initial=np.zeros(3), seed=seed, progress=False, **options)
            wrong = differences(kept, whole)
    draws = sum(chain.n_draws for chain in kept.chains)
    said = "the same in all bits" if not wrong else f"DIFFERENT: {', '.join(wrong)}"
    tell(f"round {number:3d}  {name:18s} ended {ends:3d} times {draws:9,} draws {n_files:3d} files  {said}")
    return ends, not wrong


def main(seconds: float) -> int:
    """Rounds until the time is over."""
    chance, began, total, good, number = random.Random(SEED), time.monotonic(), 0, True, 0
    tell(f"temperance {tp.__version__}, {seconds / 60.0:.0f} minutes, seed {SEED}")
    while time.monotonic() - began < seconds:
        number += 1
        ends, same = round_of(number, list(SETUPS)[(number - 1) % len(SETUPS)], chance)
        total, good = total + ends, good and same
    verdict = "all runs are the same as undisturbed ones" if good else "SOME RUNS DIFFER"
    tell(f"{number} runs, ended {total} times: {verdict}")
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        with contextlib.suppress(KeyboardInterrupt):
            child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        sys.exit(3)
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0 * MINUTES))
