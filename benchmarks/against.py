"""What changed in speed since other commits: the cases of ``goals.py``, measured on all trees in turn.

Run with ``make bench-against REV=...``. Every measurement is a new process with the sources, the benchmarks
and the cache of its own tree. A ratio is one of CPU times, the best of all turns: above one, this tree is the
slower.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

import goals
import timing

ROOT = Path(__file__).parent.parent
HERE = "this tree"
ALTERNATIONS = 10
TURNS = 6  # in each process: the spread between processes is larger than that between turns
LONGER = 10  # times the iterations of a goal, so that what a run takes to begin and to end does not count
COLD = 2  # cold starts of each tree
ALLOWED = 1.03

Times = dict[str, float]


def main() -> None:
    """Measure all trees in turn and print what this one takes of the time of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revisions", nargs="*")
    parser.add_argument("--alternations", type=int, default=ALTERNATIONS)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(iterations()))
        return
    with ExitStack() as stack:
        roots = {HERE: ROOT} | {rev: stack.enter_context(worktree(rev)) for rev in options.revisions}
        caches = {name: Path(stack.enter_context(tempfile.TemporaryDirectory())) for name in roots}
        times = measured(
            {name: environment(roots[name], caches[name]) for name in roots}, options.alternations
        )
    print(f"{timing.heading()}\n\n{table(times)}")


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """The sources of a commit in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree"
        git("worktree", "add", "--quiet", "--detach", str(path), revision)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def git(*words: str) -> None:
    """A command of git in this repository."""
    subprocess.run(["git", "-C", str(ROOT), *words], check=True)


def environment(root: Path, cache: Path) -> dict[str, str]:
    """What a process needs to be one of that tree."""
    path = os.pathsep.join([str(root / "src"), str(root / "benchmarks")])
    return {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1"}


def measured(trees: dict[str, dict[str, str]], alternations: int) -> dict[str, Times]:
    """The best times of each tree; the order of the trees turns around every time."""
    times: dict[str, Times] = {name: {} for name in trees}
    for name in list(trees) * COLD:
        with tempfile.TemporaryDirectory() as empty:
            note(times[name], start("cold start", {**trees[name], "NUMBA_CACHE_DIR": empty}))
    for name in trees:
        fill_cache(trees[name])
    for k in range(alternations):
        for name in list(trees)[:: -1 if k % 2 else 1]:
            note(times[name], in_process(trees[name]))
            note(times[name], start("warm start", trees[name]))
        print(f"{k + 1} of {alternations}", file=sys.stderr, flush=True)
    return times


def fill_cache(variables: dict[str, str]) -> None:
    """Compile all that is kept on disk."""
    in_process(variables)
    start("warm start", variables)


def note(best: Times, new: Times) -> None:
    """Keep the smaller time of each case, in place."""
    best.update({case: min(seconds, best.get(case, np.inf)) for case, seconds in new.items()})


def in_process(variables: dict[str, str]) -> Times:
    """Every case once more, in a new process; -P keeps this tree's benchmarks out of the others' path."""
    command = [sys.executable, "-P", __file__, "--measure"]
    return dict(json.loads(subprocess.run(command, check=True, env=variables, stdout=subprocess.PIPE).stdout))


def start(name: str, variables: dict[str, str]) -> Times:
    """CPU seconds and seconds on the wall from a new process to its first draws."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = timing.wall_seconds(lambda: goals.new_process(goals.FIRST_DRAW, **variables))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {name: cpu, f"{name}, on the wall": wall}


def iterations() -> Times:
    """Seconds of an iteration for every case of the tree that this process runs on."""
    times = {}
    for case in goals.CASES:
        problem, n = case.problem, LONGER * case.n
        run = (problem.log_density, problem.start, case.levels, n)
        kinds = {
            "adapting": timing.adapting(*run, data=problem.data),
            "frozen": timing.frozen(*run, data=problem.data),
            "robust": timing.adapting(*run, data=problem.data, settings=timing.ROBUST),
        }
        seconds = timing.best_of(list(kinds.values()), turns=TURNS)
        times |= {f"{case.name}, {kind}": t / n for kind, t in zip(kinds, seconds, strict=True)}
    n = LONGER * 2_000
    over_rows = timing.adapting(goals.rows_density, np.zeros(2), 5, n, vectorized=True)
    plain = timing.adapting(goals.plain_density, np.zeros(2), 5, n)
    seconds = timing.best_of([over_rows, plain], turns=TURNS)
    return times | {"NumPy density over rows": seconds[0] / n, "plain Python density": seconds[1] / n}


def table(times: dict[str, Times]) -> str:
    """A line for every case: the time here, and its ratio to that of each commit."""
    others = [name for name in times if name != HERE]
    head = f"| case | {HERE} | " + " | ".join(f"against {name}" for name in others) + " |"
    lines = [head, "|---" * (2 + len(others)) + "|"]
    for case, here in times[HERE].items():
        ratios = [here / times[name][case] for name in others]
        cells = [f"**{r:.3f}**" if r > ALLOWED else f"{r:.3f}" for r in ratios]
        lines.append(f"| {case} | {shown(here)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def shown(seconds: float) -> str:
    """Seconds of a start, microseconds of an iteration."""
    return f"{seconds:.2f} s" if seconds > 0.1 else f"{1e6 * seconds:.2f} µs"


if __name__ == "__main__":
    main()
