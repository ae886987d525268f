"""The front-ends for other libraries, each with its library in an environment of its own."""

import sys
import tomllib

import pytest

from environments import ROOT, Environment, find_python

TOOLS = ("hypothesis", "pytest", "scipy")
TESTS = {
    "bilby": ("test_bilby.py",),
    "jax": ("test_jax.py",),
    "pymc": ("test_pymc.py",),
    "stan": ("test_bridgestan.py",),
}
# For tests and pages: headers of Stan come with httpstan, its NUTS with pystan, which needs pkg_resources.
MORE = {"bilby": ("dynesty",), "stan": ("httpstan==4.13.0", "pystan==3.10.0", "setuptools<81")}
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


def check(folder, python: str, name: str) -> Environment:
    environment = Environment(folder, python, [*extra(name), *MORE.get(name, ()), *TOOLS])
    shown = environment.run("-m", "pip", "list", "--format", "freeze").split()
    wanted = {requirement.partition(">=")[0] for requirement in extra(name)}
    sys.stdout.write(" ".join(line for line in shown if line.partition("==")[0] in wanted) + "\n")
    environment.test(*TESTS[name])
    return environment


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_a_front_end(name, tmp_path):
    environment = check(tmp_path / "env", sys.executable, name)
    environment.test("test_docs.py", keyword=f"examples_run and {name}.md")


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_a_front_end_and_a_newer_python(name, tmp_path):
    python = find_python([minor for minor in NEWER if minor > sys.version_info.minor])
    if python is None:
        pytest.skip("no newer Python is installed here")
    check(tmp_path / "env", python, name)
