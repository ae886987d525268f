"""What a user installs: built as it would be published, and tried in environments that have nothing else."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import temperance as tp
from environments import ROOT, Environment, find_python

MINORS = (11, 12, 13)
NOT_FOR_USERS = {"all", "docs", "site", "test"}
DATA = (
    "py.typed",
    "results/report/page.html",
    "results/report/style.css",
    "zoo/data/LICENSE-scikit-learn.txt",
)
FIRST_RUN = """
import hashlib, pathlib, sys
import temperance as tp

assert pathlib.Path(tp.__file__).is_relative_to(sys.prefix), "not what was installed"
result = tp.sample(tp.zoo.twenty_peaks(), draws=200, tune=500, levels=3, seed=1, progress=False)
assert tp.__version__ in result.setup.versions.values()
repr(result), str(result.summary())
try:
    result.plot()
except tp.TemperanceError as error:
    assert "pip install matplotlib" in str(error)
else:
    raise AssertionError("matplotlib is here, and nobody asked for it")
print(tp.__version__, hashlib.sha256(result.draws.tobytes()).hexdigest())
"""
ALL_OF_IT = """
import arviz, bilby, bridgestan, cloudpickle, distributed, jax, jinja2, mpi4py, numpyro, pymc, scipy
import temperance as tp

result = tp.sample(tp.zoo.two_modes(dim=2), draws=200, tune=500, seed=1, progress=False)
result.plot().savefig("answer.png")
result.report("run.html")
result.to_arviz()
print("all here")
"""


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_stands_in_one_place():
    assert project()["dynamic"] == ["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", tp.__version__)


def test_the_changelog_begins_with_this_version_or_what_comes_after_it():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert next(name for name in sections if name != "Unreleased") == tp.__version__
    assert "Unreleased" not in sections[1:]


def test_the_extra_all_is_all_that_users_may_want():
    extras = project()["optional-dependencies"]
    (named,) = (re.fullmatch(r"temperance\[(.*)\]", one)[1].split(",") for one in extras["all"])
    assert sorted(named) == sorted(set(extras) - NOT_FOR_USERS)


def test_the_classifiers_are_the_pythons_that_are_tested():
    named = [one.rpartition(" ")[2] for one in project()["classifiers"] if "Python :: 3." in one]
    assert named == [f"3.{minor}" for minor in MINORS]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Sdist and wheel, the wheel made from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    builder = Environment(folder / "env", sys.executable, ["build"], ours=())
    builder.run("-m", "build", "--outdir", str(folder / "out"), str(ROOT))
    (sdist,), (wheel,) = ((folder / "out").glob(pattern) for pattern in ("*.tar.gz", "*.whl"))
    return sdist, wheel


@pytest.mark.slow
def test_what_is_built_has_all_files_and_no_others(built):
    sdist, wheel = built
    assert (sdist.name, wheel.name) == (
        f"temperance-{tp.__version__}.tar.gz",
        f"temperance-{tp.__version__}-py3-none-any.whl",
    )
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src" / "temperance"
    ours = {f"temperance/{path.relative_to(source)}" for path in source.rglob("*") if is_ours(path)}
    assert {name for name in packed if name.startswith("temperance/")} == ours
    assert {f"temperance/{name}" for name in DATA} <= ours
    assert any(name.endswith("licenses/LICENSE") for name in packed)
    with tarfile.open(sdist) as files:
        tops = {name.split("/")[1] for name in files.getnames() if "/" in name}
    assert {"src", "tests", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"} <= tops
    assert sdist.stat().st_size < 2_000_000


def is_ours(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


@pytest.mark.slow
def test_the_wheel_runs_with_nothing_else_on_each_python(built, tmp_path, monkeypatch):
    """The same draws on all of them, by the package that was installed and not by the checkout."""
    printed = {}
    for minor in MINORS:
        python = find_python([minor])
        if python is None:
            continue
        environment = Environment(tmp_path / f"env{minor}", python, [], ours=[str(built[1])])
        printed[minor] = environment.run("-c", FIRST_RUN)
        command = environment.folder / "bin" / "temperance"
        shown = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
        assert tp.__version__ in shown
    sys.stdout.write(f"tried: {', '.join(f'Python 3.{minor}' for minor in printed)}\n")
    assert sys.version_info.minor in printed
    assert len(set(printed.values())) == 1
    assert printed[sys.version_info.minor].startswith(f"{tp.__version__} ")


@pytest.mark.slow
def test_the_sdist_with_all_extras(built, tmp_path):
    environment = Environment(
        tmp_path / "env", sys.executable, [], ours=[f"temperance[all] @ {built[0].as_uri()}"]
    )
    environment.run("-m", "pip", "check")
    script = tmp_path / "all.py"
    script.write_text(
        f"import os; os.chdir({str(tmp_path)!r}); os.environ['MPLBACKEND'] = 'Agg'\n{ALL_OF_IT}"
    )
    assert environment.run(str(script)).endswith("all here\n")
    assert (tmp_path / "answer.png").stat().st_size > 10_000
