"""The kernel cache on disk: used by every process, never larger, never stale.

Each process below is a real one. It imports a copy of the package with the compiled code beside the sources,
as numba keeps it. What this suite has compiled is taken along, since compiling the loop takes long.
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
from numba.core import event
from numba.core.caching import FunctionCache

import temperance
from temperance.core import cache
from temperance.core.compile import KERNEL_FOLDERS, kernel_digest
from temperance.core.iteration import compiled_loop
from temperance.core.random import compiled_fill
from temperance.moves import moves_with, records_of
from temperance.runs.compiling import NOTE, note_compiling
from temperance.targets.callback import python_evaluate

PACKAGE = Path(temperance.__file__).parent

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


report = {"package": tp.__file__, "pairs": {}}
kernels = {}
with event.install_recorder("numba:compile") as recorder:
    for name in task["strategies"]:
        strategy = getattr(tp.swaps, name)()
        report["pairs"][name] = propose_pair(strategy)
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

FORMULAS = ("-0.5 * np.sum(x**2)", "-np.sum(np.abs(x))", "-np.sum(x**4)")
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
    """A copy of the package that may be edited, with the compiled code in it."""

    package: Path

    def run(self, task: dict) -> dict:
        """What a new process reports."""
        environment = {
            **{name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"},
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
        found = [file for pattern in ("*.nbi", "*.nbc") for file in self.package.rglob(pattern)]
        return sorted((str(file.relative_to(self.package)), file.stat().st_size) for file in found)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package (times of change included) and its kernels, compiled in this process or an earlier one."""
    package = tmp_path_factory.mktemp("warm") / "temperance"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    kernels = [getattr(temperance.swaps, name)().kernel() for name in (*STRATEGIES, "uphill")]
    loop = compiled_loop(*records_of(moves_with("robust")))
    for kernel in (*kernels, loop, compiled_fill(), python_evaluate()):
        source = Path(kernel.py_func.__code__.co_filename)
        beside = package / source.relative_to(PACKAGE).parent / "__pycache__"
        beside.mkdir(exist_ok=True)
        for file in Path(kernel.stats.cache_path).glob(f"{source.stem}.*.nb[ic]"):
            shutil.copy(file, beside)
    return package


@pytest.fixture
def house(warm: Path, tmp_path: Path) -> House:
    """A copy of its own for each test."""
    return House(Path(shutil.copytree(warm, tmp_path / "temperance")))


def all_loaded(report: dict, names: tuple[str, ...]) -> bool:
    """From the cache, of which the digest is the key."""
    kernels = [report["kernels"][name] for name in names]
    return all(kernel["sealed"] and kernel["hits"] and not kernel["misses"] for kernel in kernels)


@pytest.mark.slow
def test_first_process_compiles_each_kernel_once(house: House):
    """Of what was there before an edit, nothing is of use to it."""
    house.edit("core/numeric.py", *STANDSTILL["core/numeric.py"])
    report = house.run(task(0, compiled=False, strategies=STRATEGIES))
    assert set(report["kernels"]) == {*STRATEGIES, "loop", "fill", "python_evaluate"}
    assert all(kernel["misses"] == 1 for kernel in report["kernels"].values())
    assert report["noted"] == 1


def test_compiling_the_loop_is_announced(capfd: pytest.CaptureFixture[str]):
    """Once, and not with what else is compiled; what is loaded makes no such event."""
    loop = compiled_loop(*records_of(moves_with("robust")))
    for wanted in (True, False):
        with note_compiling(wanted):
            for kernel in (compiled_fill(), loop, python_evaluate()):
                event.start_event("numba:compile", data={"dispatcher": kernel})
                event.end_event("numba:compile", data={"dispatcher": kernel})
    assert capfd.readouterr().err == NOTE


def test_second_process_with_a_compiled_density_compiles_the_density_only(house: House):
    before = house.files()
    report = house.run(task(1))
    assert report["moved"]
    assert all_loaded(report, ("loop", "fill", "adjacent"))
    assert report["noted"] == 0
    wrappers = ("temperance.targets.compiled.", "user.log_density")
    assert report["fresh"]
    assert [name for name in report["fresh"] if not name.startswith(wrappers)] == []
    assert house.files() == before, "the cache does not grow"


def test_second_process_with_a_python_density_compiles_nothing(house: House):
    before = house.files()
    report = house.run(task(2, compiled=False))
    assert report["moved"]
    assert all_loaded(report, ("loop", "fill", "uniform", "python_evaluate"))
    assert report["fresh"] == []
    assert house.files() == before


# Edits after which nothing moves any more, or the first pair of levels is always chosen.
STANDSTILL = {
    "core/numeric.py": ("return min(log_ratio, 0.0)", "return -math.inf"),
    "core/accept.py": ("if chain.noise.uniforms[level, row] < accept_prob:", "if accept_prob < 0.0:"),
    "core/linalg.py": ("* load(bundle.normals, k)", "* (load(bundle.diag, k) - load(bundle.diag, k))"),
}
FIRST_PAIR = ("swaps/weighted.py", "if choice < cumulative:", "if choice >= 0.0:")
each_phase = pytest.mark.parametrize("file", sorted(STANDSTILL))


def without_digest(house: House) -> None:
    """The broken version that the tests of edits catch: a digest that misses them."""
    house.edit("core/compile.py", "return digest.hexdigest()", f'return "{kernel_digest()}"')


def test_edit_of_a_helper_in_another_file_is_seen(house: House):
    house.edit(*FIRST_PAIR)
    report = house.run(task(0, strategies=("uphill",), draws=0))
    assert report["pairs"]["uphill"] == [0, 1]
    assert report["kernels"]["uphill"]["misses"] == 1


def test_without_the_digest_an_edit_goes_unseen(house: House):
    without_digest(house)
    house.edit(*FIRST_PAIR)
    report = house.run(task(0, strategies=("uphill",), draws=0))
    assert report["pairs"]["uphill"] == [1, 2]
    assert all_loaded(report, ("uphill",))


@pytest.mark.slow
@each_phase
def test_edit_of_any_phase_is_seen(house: House, file: str):
    house.edit(file, *STANDSTILL[file])
    report = house.run(task(0, compiled=False))
    assert not report["moved"]
    assert report["kernels"]["loop"]["misses"] == 1


@pytest.mark.slow
@each_phase
def test_without_the_digest_an_edit_of_any_phase_goes_unseen(house: House, file: str):
    without_digest(house)
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
    folders = tuple(f"{folder}/" for folder in KERNEL_FOLDERS)
    assert [file for file in kernel_files() if not Path(file).as_posix().startswith(folders)] == []


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


def test_code_on_disk_that_names_types_of_another_version_is_made_anew(tmp_path, monkeypatch):
    """As after an upgrade that renamed a record: numba reads the names before it asks how old the file is."""
    (tmp_path / "old_records.py").write_text(
        "from typing import NamedTuple\nclass Old(NamedTuple):\n    a: float\n", encoding="utf-8"
    )
    (tmp_path / "old_kernel.py").write_text("def twice(x):\n    return 2.0 * x[0]\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import old_kernel
    import old_records

    kind = numba.types.NamedTuple([numba.types.float64], old_records.Old)
    cache.kept_on_disk(old_kernel.twice, numba.types.float64(kind), {"nopython": True})
    del old_records.Old
    with pytest.raises(AttributeError, match="Can't get attribute"):
        numba.jit("float64(UniTuple(float64, 1))", cache=True)(old_kernel.twice)
    pair = numba.types.UniTuple(numba.types.float64, 1)
    for misses in (1, 0):
        kernel = cache.kept_on_disk(old_kernel.twice, numba.types.float64(pair), {"nopython": True})
        assert kernel((3.0,)) == 6.0
        assert len(kernel.stats.cache_misses) == misses
