"""The front-ends for other libraries, each with its library in an environment of its own."""

import re
import sys
import tomllib

import pytest

import temperance as tp
from environments import ROOT, Environment, find_python
from temperance.extras import TESTED, needed

TOOLS = ("hypothesis", "pytest", "scipy")
TESTS = {
    "bilby": ("test_bilby.py",),
    "jax": ("test_jax.py",),
    "pymc": ("test_pymc.py",),
    "stan": ("test_bridgestan.py",),
}
MORE = {"bilby": ("dynesty",), "stan": ("httpstan==4.13.0",)}  # headers of Stan come with httpstan
# For pages: Stan's NUTS comes with pystan, which needs pkg_resources and is not for newer Pythons.
PAGES = {"stan": ("pystan==3.10.0", "setuptools<81")}
WAYS = {"bilby": "bilby", "jax": "jax or numpyro", "pymc": "pymc", "stan": "stan"}  # as tests name them
NEWER = (13, 12)  # minor versions of Python, the preferred first


def extra(name: str) -> list[str]:
    """What the extra of this name asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements: list[str] = project["optional-dependencies"][name]
    return requirements


@pytest.mark.parametrize("name", TESTS)
def test_a_front_end_has_an_extra_and_tests(name):
    assert all(">=" in requirement for requirement in extra(name))
    assert all((ROOT / "tests" / file).is_file() for file in TESTS[name])


def lowest(name: str) -> list[str]:
    return [requirement.replace(">=", "==") for requirement in extra(name)]


def test_the_lowest_versions_are_those_that_errors_name():
    asked = dict(requirement.split(">=") for name in TESTS for requirement in extra(name))
    assert {name: low for name, (low, _) in TESTED.items()} == {name: asked[name] for name in TESTED}


class FakeModel:
    """What is taken for a model of PyMC, and has nothing of one."""

    __module__ = "pymc.model.core"


FakeModel.__name__ = "Model"


@pytest.mark.parametrize(
    ("version", "kind", "said"),
    [
        ("5.9.2", tp.TemperanceError, 'pymc must be 5.28 or newer, and 5.9.2 is .* --upgrade "pymc>=5.28"'),
        ("5.28.1", AttributeError, "free_RVs"),
        ("7.1.0rc1", AttributeError, "pymc 7.1.0rc1 is newer than what temperance was tested with, 6.4"),
    ],
)
def test_what_is_said_of_another_version_than_was_tested(version, kind, said, monkeypatch):
    """Broken: versions compared as text, or a note on every error."""
    monkeypatch.setattr("temperance.extras.metadata.version", lambda package: version)
    with pytest.raises(kind) as caught:
        tp.sample(FakeModel(), draws=10)
    notes = getattr(caught.value, "__notes__", [])
    assert re.search(said, "\n".join([str(caught.value), *notes]))
    assert len(notes) == version.startswith("7")


def test_a_missing_library_is_named_once():
    with pytest.raises(tp.TemperanceError, match=r"this needs no_such: python -m pip install no_such$"):
        needed("this needs", "no_such", "no_such.part")


# ---- each with its library


def tell(*said: str) -> None:
    """For the page that keeps what was run."""
    sys.stdout.write("\n" + "  ".join(said))
    sys.stdout.flush()


def made(folder, python: str, name: str, requirements: list[str]) -> Environment:
    environment = Environment(folder, python, [*requirements, *MORE.get(name, ()), *TOOLS])
    shown = environment.run("-m", "pip", "list", "--format", "freeze").split()
    wanted = {requirement.partition(">=")[0] for requirement in extra(name)} | {"numba", "numpy", "pytensor"}
    versions = [line.replace("==", " ") for line in shown if line.partition("==")[0] in wanted]
    tell(f"\n{name}:", environment.run("--version").strip() + ",", ", ".join(versions))
    tell("  tests", environment.test(*TESTS[name]))
    return environment


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_a_front_end(name, tmp_path):
    environment = made(tmp_path / "env", sys.executable, name, [*extra(name), *PAGES.get(name, ())])
    tell("  its page", environment.test("test_docs.py", keyword=f"examples_run and {name}.md"))
    tell("  calibration and broken versions", calibrated(environment, name))
    if name != "bilby":
        tell(
            "  the posterior of numba", environment.test("test_same_model.py", keyword=WAYS[name], slow=True)
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_a_front_end_and_a_newer_python(name, tmp_path):
    python = find_python([minor for minor in NEWER if minor > sys.version_info.minor])
    if python is None:
        pytest.skip("no newer Python is installed here")
    environment = made(tmp_path / "env", python, name, extra(name))
    tell("  calibration", calibrated(environment, name, "uniform and "))


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_a_front_end_and_the_lowest_versions(name, tmp_path):
    made(tmp_path / "env", sys.executable, name, lowest(name))


def calibrated(environment: Environment, name: str, which: str = "") -> str:
    return environment.test("test_calibration.py", keyword=f"{which}({WAYS[name]})", slow=True)
