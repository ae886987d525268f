"""Words that people can look up: those that the glossary puts away stay out of what people read first."""

import ast
import inspect
import json
import re
from pathlib import Path

import click
import pytest

import temperance
from temperance.cli import main
from test_docs import PAGES, ROOT
from test_site import PUBLIC, public_names

PACKAGE = Path(temperance.__file__).parent
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([^|]+?) \| ", re.MULTILINE)
OF_A_PROPOSAL = (
    r"proposals?( (?:was|were|is|are|that (?:was|were)))? refused|refused proposals?"
    r"|refuses? (?:such )?(?:points|proposals?)"
)


def old_words():
    """The first column of the glossary's last table, each as a pattern."""
    rows = ROW.findall(GLOSSARY.partition("## Words that are not used")[2])[1:]
    return [OF_A_PROPOSAL if row == "refused (of a proposal)" else rf"\b{re.escape(row)}\b" for row in rows]


OLD = re.compile("|".join(old_words()), re.IGNORECASE)
IN_NAMES = re.compile(r"worth|refus|anew|aside", re.IGNORECASE)


def found(text):
    return [match.group() for match in OLD.finditer(text)]


def test_the_table_is_read():
    assert len(old_words()) >= 8
    assert found("What it is worth") == ["worth"]
    assert found("21 proposals were refused, a file is refused, run anew") == [
        "proposals were refused",
        "anew",
    ]
    assert found("this refuses such points instead") == ["refuses such points"]
    assert not found("A trustworthy page is refused by name")


def headings(text):
    return re.findall(
        r"^#+ .*", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_headings(page):
    assert not [line for line in headings(page.read_text(encoding="utf-8")) if found(line)]


NOTEBOOKS = sorted((ROOT / "docs" / "tutorial").glob("*.ipynb"))
PRINTED = [
    *sorted((ROOT / "docs").rglob("*.txt")),
    ROOT / "docs" / "interactive" / "twenty_peaks.html",
    PACKAGE / "results" / "report" / "page.html",
]
TEXT_BLOCK = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(cell):
    """What a cell of a notebook printed."""
    for output in cell.get("outputs", []):
        yield "".join(output.get("text", []))
        yield from (
            "".join(text) for kind, text in output.get("data", {}).items() if kind.startswith("text/")
        )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_notebooks(notebook):
    """Headings, and what they show."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    written = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    texts = [*(line for text in written for line in headings(text)), *(t for c in cells for t in shown(c))]
    assert len(texts) > 10
    assert [text for text in texts if found(text)] == []


def test_print_outs_that_pages_show():
    """Those between the lines, those that stand in files, and what is for a browser."""
    texts = {str(path.relative_to(ROOT)): [path.read_text(encoding="utf-8")] for path in PRINTED}
    texts |= {str(page.relative_to(ROOT)): TEXT_BLOCK.findall(page.read_text("utf-8")) for page in PAGES}
    assert sum(map(len, texts.values())) > 100
    assert {name: [found(text) for text in of] for name, of in texts.items() if any(map(found, of))} == {}


def spoken(tree):
    """The texts of a module that are no docstrings: messages, columns, words for people."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    silent = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
    ]


def test_print_outs():
    """Every text of the package that may be printed: tables, warnings, errors, progress."""
    troubles = {
        str(path.relative_to(PACKAGE)): [text for text in spoken(ast.parse(path.read_text())) if found(text)]
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    assert {path: texts for path, texts in troubles.items() if texts} == {}


def test_help_of_the_commands():
    for name, command in {"temperance": main, **main.commands}.items():
        assert not found(command.get_help(click.Context(command, info_name=name))), name


def test_a_print_out_would_be_seen():
    assert spoken(ast.parse('"""Worth."""\ndef f():\n    """Worth."""\n    return f"{x} is worth it"')) == [
        " is worth it"
    ]


def members(one):
    """A public object, and what is public in it."""
    yield getattr(one, "__name__", ""), one
    if inspect.isclass(one):
        for name in dir(one):
            if not name.startswith("_"):
                yield name, inspect.getattr_static(one, name)


def names_in(one):
    """Names of members, fields and parameters."""
    names = [name for name, _ in members(one)] + list(getattr(one, "__dataclass_fields__", ()))
    if inspect.isfunction(one) or (inspect.isclass(one) and not issubclass(one, Exception)):
        names += list(inspect.signature(one).parameters)
    return names


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name):
    module = PUBLIC[name][0]
    objects = [getattr(module, one) for one in public_names(module)]
    names = [*public_names(module), *(found for one in objects for found in names_in(one))]
    assert not [one for one in names if IN_NAMES.search(one)]


@pytest.mark.parametrize("name", PUBLIC)
def test_first_lines_of_docstrings(name):
    module = PUBLIC[name][0]
    documented = [pair for one in public_names(module) for pair in members(getattr(module, one))]
    first = {label: (inspect.getdoc(one) or "").split("\n")[0] for label, one in documented}
    assert {label: line for label, line in first.items() if found(line)} == {}


def test_every_setting_is_described_by_itself():
    """Each field of each settings class has an entry of its own in the docstring."""
    classes = ("Adaptation", "Bounds", "Gain", "Growth", "Jumps", "Settings", "Trimming")
    for cls in (getattr(temperance, name) for name in classes):
        described = set(re.findall(r"^    (\w+): ", inspect.getdoc(cls), re.MULTILINE))
        assert described == set(cls.__dataclass_fields__), cls.__name__
