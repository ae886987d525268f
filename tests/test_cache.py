"""The kernel cache on disk: used by every process, never larger, never stale.

Each process below is a real one. All import one copy of the package at one path, since numba keys its files
by path: a copy elsewhere would be compiled anew and prove nothing.
"""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache

import temperance
from temperance.core import cache
from temperance.core.compile import KERNEL_FOLDERS, kernel_digest
from temperance.runs.compiling import NOTE

PACKAGE = Path(temperance.__file__).parent
N_PROCESSES = 4

WORKER = """
import json, sys
import numba, numpy as np
from numba.core import event
import temperance as tp
from temperance.core.compile import kernel_digest
from temperance.core.iteration import compiled_loop
from temperance.moves import moves_with, records_of
from temperance.core.random import compiled_fill
from temperance.swaps.binding import bind
from temperance.targets.callback import python_evaluate

task = json.loads(sys.argv[1])
names = {"np": np, "__name__": "user"}
exec(f"def log_density(x): return {task['formula']}", names)
density = numba.njit(names["log_density"]) if task["compiled"] else names["log_density"]


def propose_pair(strategy):
    bound = bind(strategy, np.zeros((3, 1)), np.array([-1.0, -1.5, -3.0]), np.ones(3), np.array([3]))
    bound.kernel(bound.view, 0.9, 0.1)
    return bound.view.pair.tolist()


def stats(kernel):
    hits, misses = kernel.stats.cache_hits, kernel.stats.cache_misses
    return {
        "hits": sum(hits.values()),
        "misses": sum(misses.values()),
        "sealed": kernel_digest() in [cell.cell_contents for cell in kernel.py_func.__closure__],
    }


def freshly_compiled(recorder):
    started = [record.data["dispatcher"] for _, record in recorder.buffer if record.is_start]
    fresh = {d.py_func for d in started if not d.stats.cache_hits}
    names = {f"{function.__module__}.{function.__qualname__}" for function in fresh}
    return sorted(name for name in names if not name.startswith("numba."))


report = {"package": tp.__file__, "digest": kernel_digest()}
kernels = {}
with event.install_recorder("numba:compile") as recorder:
    for name in task["strategies"]:
        strategy = getattr(tp.swaps, name)()
        report["pair"] = propose_pair(strategy)
        kernels[name] = strategy.kernel()
        if task["draws"]:
            result = tp.sample(
                density, initial=np.full(task["dim"], 0.1), draws=task["draws"], tune=20, chains=2,
                levels=task["levels"], swaps=strategy, seed=1, progress=True,
                settings=tp.Settings(
                    adaptation=tp.Adaptation(coordinate_every=0), jumps=tp.Jumps(enabled=False)
                ),
            )
            report["moved"] = bool(np.ptp(result.draws) > 0.0)
            kernels["loop"] = compiled_loop(*records_of(moves_with("robust")))
            kernels["fill"] = compiled_fill()
            if not task["compiled"]:
                kernels["python_evaluate"] = python_evaluate()
report["kernels"] = {name: stats(kernel) for name, kernel in kernels.items()}
report["fresh"] = freshly_compiled(recorder)
print(json.dumps(report))
"""

FORMULAS = (
    "-0.5 * np.sum(x**2)",
    "-np.sum(np.abs(x))",
    "-np.sum(x**4)",
    "-np.sum(np.log(1.0 + x**2)) * 2.0",
    "-0.5 * np.sum((x - 1.0) ** 2)",
    "-np.sum(np.log(np.cosh(x)))",
    "np.logaddexp(-np.sum((x - 3.0) ** 2), -np.sum((x + 3.0) ** 2))",
    "-0.1 * np.sum(x**2) + np.sum(np.cos(x))",
    "-2.0 * np.sum(x * x)",
    "-0.5 * x[0] ** 2 - np.sum(x[1:] ** 2)",
)
STRATEGIES = ("equi_energy", "adjacent", "uniform")


def task(number: int, *, compiled: bool = True, strategies: tuple[str, ...] = (), draws: int = 20) -> dict:
    """A tiny run; density, strategy, number of levels and dimension all differ from number to number."""
    return {
        "formula": FORMULAS[number],
        "compiled": compiled,
        "strategies": strategies or (STRATEGIES[number % 3],),
        "levels": 2 + number % 5,
        "dim": 1 + number % 3,
        "draws": draws,
    }


@dataclass(frozen=True)
class House:
    """A copy of the package that may be edited, and a cache of its own."""

    package: Path
    cache: Path

    def run(self, task: dict) -> dict:
        """What a new process reports."""
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(self.cache),
            "PYTHONPATH": str(self.package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", WORKER, json.dumps(task)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout.splitlines()[-1])
        report["noted"] = done.stderr.count(NOTE)
        assert Path(report["package"]).parent == self.package
        return report

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace one piece of code that must be there."""
        source = self.package / file
        text = source.read_text()
        assert text.count(old) == 1, f"{file} has changed; this test must follow it"
        source.write_text(text.replace(old, new))

    def files(self) -> list[tuple[str, int]]:
        """Every file of the cache, with its size."""
        return sorted(
            (str(file.relative_to(self.cache)), file.stat().st_size)
            for file in self.cache.rglob("*")
            if file.is_file()
        )


@dataclass(frozen=True)
class Warmed:
    pristine: Path
    place: Path
    cache: Path
    report: dict


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> Warmed:
    """A first process that has used every built-in strategy and a Python density."""
    root = tmp_path_factory.mktemp("kernels")
    pristine, place, cache = root / "pristine", root / "place" / "temperance", root / "cache"
    shutil.copytree(PACKAGE, pristine, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(pristine, place)
    report = House(place, cache).run(task(0, compiled=False, strategies=STRATEGIES))
    return Warmed(pristine, place, cache, report)


@pytest.fixture
def house(warmed: Warmed, tmp_path: Path) -> House:
    """The package untouched at its one place (times of change included), and the warm cache copied."""
    shutil.rmtree(warmed.place)
    shutil.copytree(warmed.pristine, warmed.place)
    shutil.copytree(warmed.cache, tmp_path / "cache")
    return House(warmed.place, tmp_path / "cache")


def all_loaded(report: dict, names: tuple[str, ...]) -> bool:
    return all(report["kernels"][name]["hits"] and not report["kernels"][name]["misses"] for name in names)


def test_first_process_compiles_each_kernel_once(warmed: Warmed):
    assert set(warmed.report["kernels"]) == {*STRATEGIES, "loop", "fill", "python_evaluate"}
    assert all(kernel["misses"] == 1 for kernel in warmed.report["kernels"].values())
    assert warmed.report["noted"] == 1


def test_every_cached_kernel_closes_over_the_digest(warmed: Warmed):
    assert all(kernel["sealed"] for kernel in warmed.report["kernels"].values())


def test_second_process_with_a_compiled_density_compiles_the_density_only(house: House):
    report = house.run(task(1))
    assert report["moved"]
    assert all_loaded(report, ("loop", "fill", "adjacent"))
    assert report["noted"] == 0
    wrappers = ("temperance.targets.compiled.", "user.log_density")
    assert report["fresh"]
    assert [name for name in report["fresh"] if not name.startswith(wrappers)] == []


def test_second_process_with_a_python_density_compiles_nothing(house: House):
    before = house.files()
    report = house.run(task(2, compiled=False))
    assert report["moved"]
    assert all_loaded(report, ("loop", "fill", "uniform", "python_evaluate"))
    assert report["fresh"] == []
    assert house.files() == before


def test_cache_does_not_grow_from_process_to_process(house: House):
    files = []
    for number in range(N_PROCESSES):
        report = house.run(task(number))
        assert all_loaded(report, ("loop", STRATEGIES[number % 3]))
        files.append(house.files())
    assert files[1]
    assert files[-1] == files[1]


STANDSTILL = {
    "core/numeric.py": ("return min(log_ratio, 0.0)", "return -math.inf"),
    "core/accept.py": ("if chain.noise.uniforms[level, row] < accept_prob:", "if accept_prob < 0.0:"),
    "core/linalg.py": ("* load(bundle.normals, k)", "* (load(bundle.diag, k) - load(bundle.diag, k))"),
}


def stands_still_after_edit(house: House, file: str) -> None:
    house.edit(file, *STANDSTILL[file])
    report = house.run(task(0, compiled=False))
    assert not report["moved"]
    assert report["kernels"]["loop"]["misses"] == 1


def test_edit_of_a_helper_of_the_loop_is_seen(house: House):
    stands_still_after_edit(house, "core/numeric.py")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["core/linalg.py", "core/accept.py"])
def test_edit_of_any_phase_is_seen(house: House, file: str):
    stands_still_after_edit(house, file)


def test_edit_of_a_strategy_is_seen(house: House):
    kernel_only = task(0, draws=0)
    assert house.run(kernel_only)["pair"] == [0, 1]
    house.edit("swaps/energy.py", "return math.inf if math.isnan(gap) else gap", "return math.inf")
    report = house.run(kernel_only)
    assert report["pair"] == [-1, -1]
    assert report["kernels"]["equi_energy"]["misses"] == 1


@pytest.mark.parametrize("file", sorted(STANDSTILL))
def test_without_the_digest_an_edit_goes_unseen(house: House, warmed: Warmed, file: str):
    """The broken version that the tests above catch: the same edits, and a digest that misses them."""
    house.edit("core/compile.py", "return digest.hexdigest()", f'return "{warmed.report["digest"]}"')
    house.edit(file, *STANDSTILL[file])
    report = house.run(task(0, compiled=False))
    assert report["moved"]
    assert all_loaded(report, ("loop", "equi_energy", "python_evaluate"))


def digest_of(package: Path) -> str:
    specification = importlib.util.spec_from_file_location("compile_of_copy", package / "core" / "compile.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.kernel_digest()


def kernel_files() -> list[str]:
    """Every module that compiles something, found by what it imports; the digest alone compiles nothing."""
    return [
        str(file.relative_to(PACKAGE))
        for file in sorted(PACKAGE.rglob("*.py"))
        if any(
            isinstance(node, ast.ImportFrom)
            and node.module == "temperance.core.compile"
            and any(alias.name != "kernel_digest" for alias in node.names)
            for node in ast.walk(ast.parse(file.read_text()))
        )
    ]


def test_kernels_live_in_the_folders_that_the_digest_covers():
    assert len(kernel_files()) > 10
    assert {Path(file).parts[0] for file in kernel_files()} <= set(KERNEL_FOLDERS)


def test_digest_of_a_copy_is_the_same(house: House):
    assert digest_of(house.package) == kernel_digest()


@pytest.mark.parametrize(
    "file", [*kernel_files(), "core/state.py", "core/compile.py", "core/numba_internals/vectors.py"]
)
def test_digest_changes_with_every_kernel_file(house: House, file: str):
    with (house.package / file).open("a") as source:
        source.write("\n")
    assert digest_of(house.package) != kernel_digest()


def test_digest_does_not_change_with_other_files(house: House):
    with (house.package / "settings.py").open("a") as source:
        source.write("\n")
    assert digest_of(house.package) == kernel_digest()


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """An installation and a home folder that cannot be written to."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    only_what_the_user_names = FunctionCache._impl_class._locator_classes[:1]
    monkeypatch.setattr(FunctionCache._impl_class, "_locator_classes", only_what_the_user_names)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cache, "_in_use", [])
    return tmp_path


def kept_kernel():
    return cache.kept_on_disk(lambda x: x + 1.0, "float64(float64)", {"nopython": True})


def test_without_a_folder_to_write_to_a_temporary_one_is_used(nowhere):
    assert cache.substitute_folder() is None
    first, again = kept_kernel(), kept_kernel()
    folder = cache.substitute_folder()
    assert folder.parent == nowhere
    assert folder.stat().st_mode & 0o077 == 0, "others could plant code"
    assert sum(first.stats.cache_misses.values()) == 1
    assert sum(again.stats.cache_hits.values()) == 1
    assert again(1.0) == 2.0
    assert numba.config.CACHE_DIR == "", "a user's own functions are kept where they always are"


def test_a_folder_that_others_can_write_to_is_not_used(nowhere):
    kept_kernel()
    cache.substitute_folder().chmod(0o777)
    shared = cache._in_use.pop()
    kept_kernel()
    assert cache.substitute_folder() != shared
    assert cache.substitute_folder().stat().st_mode & 0o077 == 0


def test_without_any_folder_nothing_is_kept(nowhere, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(nowhere / "absent"))
    assert kept_kernel()(1.0) == 2.0
    assert cache.substitute_folder() == cache.NOT_KEPT


@pytest.mark.parametrize(("folder", "text"), [("here", "is kept in here;"), ("", "is kept nowhere")])
def test_a_run_says_where_code_is_kept_and_how_to_choose(monkeypatch, folder, text):
    monkeypatch.setattr(cache, "_in_use", [Path(folder)])
    with pytest.warns(temperance.TemperanceWarning, match=rf"{text}.* set NUMBA_CACHE_DIR"):
        temperance.sample(
            lambda x: -0.5 * float(x @ x), initial=[0.0], draws=2, tune=2, chains=1, levels=2, progress=False
        )
