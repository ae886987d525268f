"""The documentation: its examples run and print what it says, its links lead somewhere."""

import importlib.util
import math
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from stan_library import built
from temperance.cli import main

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```([\w{}-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ABSOLUTE_PATH = re.compile(
    r"(?<![\w./:])(/(?:home|mnt|opt|private|root|srv|tmp|usr|Users|var|work)\b\S*|[A-Za-z]:\\\S*)"
)
STAN_NAME = re.compile(r"// (\w+)\.stan")
NUMBER = re.compile(r"[\d.,-]+(?:e[+-]\d+)?")

each_page = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


class Block(NamedTuple):
    language: str
    code: str
    line: int  # of the opening fence


def blocks(text: str) -> list[Block]:
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]


def printed_after(block: Block, text: str) -> str | None:
    """The text block that follows an example with nothing between, if there is one."""
    after = [b for b in blocks(text) if b.line == block.line + block.code.count("\n") + 3]
    return after[0].code if after and after[0].language == "text" else None


def words(text: str) -> set[str]:
    """What is left of a summary when its numbers, which other versions may change, are taken out."""
    return set(NUMBER.sub("#", text).split())


def run(page: Path, block: Block, namespace: dict[str, object]) -> None:
    padded = "\n" * block.line + block.code  # an error then names the page's own line
    exec(compile(padded, str(page), "exec"), namespace)


NEEDS = {
    "bilby.md": "bilby",
    "jax.md": "numpyro",
    "pymc.md": "pymc",
    "stan.md": "bridgestan",
}  # pages with examples of a library that is not installed here


@each_page
def test_examples_run_and_print_what_they_say(page, tmp_path, monkeypatch, capsys) -> None:
    if page.name in NEEDS:
        pytest.importorskip(
            NEEDS[page.name], reason=f"{NEEDS[page.name]} is not here; test_frontends.py has it"
        )
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__example__"}
    for block in blocks(text):
        if block.language == "stan":  # compiled as it stands there, under the name that the page has for it
            source = tmp_path / f"{STAN_NAME.search(block.code)[1]}.stan"
            source.write_text(block.code)
            built(source, tmp_path)
        if block.language != "python":
            continue
        run(page, block, namespace)
        printed, said = capsys.readouterr().out, printed_after(block, text)
        if page.name == "README.md":
            assert said is not None
            assert words(printed) == words(said)
        else:
            assert printed == (said or "")


COMMAND = re.compile(r"(?:^|[ `])(temperance (?:[a-z]+)[^`#\n]*)", re.MULTILINE)
SHELL = re.compile(r"^```sh\n.*?^```$|(?<!`)`[^`\n]+`(?!`)", re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """What is typed into a shell to call us, on a page: in examples and between the lines."""
    typed = [match[1] for part in SHELL.findall(text) for match in COMMAND.finditer(part)]
    return [shlex.split(one.replace("; then", ""))[1:] for one in typed]


@each_page
def test_commands_of_the_shell_are_those_that_there_are(page) -> None:
    """Names and options; the examples that take longer are run by the tests of the command line."""
    for name, *words_after in commands(page.read_text(encoding="utf-8")):
        command = main.commands[name]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words_after if word.startswith("-")} <= {*options, "--help", "-h"}


def test_a_command_that_there_is_not_would_be_seen() -> None:
    text = "As `temperance fly --high 3` says:\n\n```sh\nsrun temperance sample a:b --out x/  # or so\n```\n"
    assert commands(text) == [["fly", "--high", "3"], ["sample", "a:b", "--out", "x/"]]


# Examples that are not Python, by page and first line: which test runs them, or why none does.
ELSEWHERE = {
    ("README.md", "make demo"): "the demo in test_cli.py, `make test` is what runs",
    ("README.md", "python -m pip install"): "test_release.py installs wheel and sdist",
    ("README.md", "temperance sample module:model"): "names and options above; each command in test_cli.py",
    ("docs/results.md", "temperance sample zoo:twenty_peaks"): "test_report.py",
    ("docs/parallel.md", "from dask.distributed"): "test_pool_engines.py, on a cluster of its own",
    ("docs/parallel.md", "mpiexec -n 64"): "test_pool_engines.py, with three processes",
    ("docs/parallel.md", "#!/bin/bash"): "not run: there is no SLURM here; what it starts is as above",
    ("docs/howto/cluster.md", ""): "test_cluster_page.py",
    ("docs/architecture.md", "src/temperance/"): "no code",
    ("docs/models.md", ""): "test_foreign.py compiles and samples them",
    ("docs/models/stan.md", "//"): "compiled and run with the page, where Stan is",
    ("docs/reproduction.md", "temperance reproduce"): "test_paper_items.py",
}


@each_page
def test_every_example_is_run_or_known_not_to_be(page) -> None:
    others = [
        block
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language not in ("python", "text", "bibtex") and not block.language.startswith("{")
    ]
    name = page.relative_to(ROOT).as_posix()
    unknown = [
        block
        for block in others
        if not any(name == where and block.code.startswith(first) for where, first in ELSEWHERE)
    ]
    assert unknown == []


def test_the_readme_says_how_far_off_its_weights_are() -> None:
    """In words that its own table bears out: how many errors, and how often runs are so far off."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^1 +[\d., ]+\.\.\. .*?\.\.\. +([\d.]+) +([\d.]+) +weighted", text, re.MULTILINE)
    said = re.search(
        r"is a half in truth\. .* this run is ([\d.]+) standard errors off, as one run of ([\w ]+) is by",
        text,
    )
    off = abs(float(row[0]) - 0.5) / float(row[1])
    assert abs(off - float(said[1])) < 0.06
    once_in = 1.0 / math.erfc(off / math.sqrt(2.0))
    assert (
        abs(
            math.log(
                once_in
                / {"three": 3, "ten": 10, "twenty": 20, "fifty": 50, "a hundred": 100, "three hundred": 300}[
                    said[2]
                ]
            )
        )
        < 0.5
    )


def test_a_wrong_example_is_caught() -> None:
    text = "One\n\n```python\nprint(1)\nraise ValueError\n```\n\n```text\n2\n```\n"
    example, said = blocks(text)
    assert printed_after(example, text) == said.code == "2\n"
    with pytest.raises(ValueError, match=r"^$") as caught:
        run(Path("page.md"), example, {})
    assert caught.traceback[-1].lineno + 1 == 5


@each_page
def test_relative_links_exist(page) -> None:
    targets = [link.split("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
    missing = [link for link in targets if link and "://" not in link and not (page.parent / link).exists()]
    assert not missing


@each_page
def test_no_absolute_paths(page) -> None:
    assert not ABSOLUTE_PATH.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", ["see /home/someone/x.py", "`/tmp/out`", r"C:\Users\x"])
def test_absolute_paths_are_recognised(text) -> None:
    assert ABSOLUTE_PATH.search(text)


def test_the_page_of_the_reproduction_is_made_from_the_committed_runs() -> None:
    spec = importlib.util.spec_from_file_location(
        "reproduction_page", ROOT / "tools" / "reproduction_page.py"
    )
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.PAGE.read_text(encoding="utf-8") == maker.render(maker.load_store(maker.RUNS))


def test_pages_are_found() -> None:
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/guide.md", "docs/architecture.md"} <= names
