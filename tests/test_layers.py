"""The house: who may import whom, who may print, and what is public."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import temperance
from temperance.core.state import (
    Humps,
    Info,
    Maps,
    Mixture,
    Noise,
    Schedule,
    Settings,
    State,
    SwapView,
    Trace,
)

PACKAGE = Path(temperance.__file__).parent
NAME = "temperance"
HEAVY = ("arviz", "click", "jax", "jinja2", "matplotlib", "numpyro", "pymc", "rich", "scipy", "xarray")
PRINTING = ("cli.py",)

# Of numba only what its manual promises, and in one folder the rest.
INTERNALS = "core/numba_internals/"
PROMISED = {f"numba.{name}" for name in ("carray", "extending", "from_dtype", "jit", "njit", "types")}
# Options, attributes and texts without a manual.
UNPROMISED = (
    *("_nrt", "forceinline", "no_cfunc_wrapper", "no_cpython_wrapper"),
    *("get_call_template", "overloads", "readonly", "no locator available"),
)

# What each layer may import of the package, beside itself. A name ends where a dot or the end follows.
ALLOWED = {
    "errors": (),
    "theory": (),
    "text": (),
    "origin": (),
    "files": ("errors",),
    "extras": ("errors",),
    "__main__": ("cli",),
    "checks": ("errors",),
    "keywords": ("errors",),
    "plain": ("errors", "checks"),
    "parameters": ("core.state", "errors", "checks"),
    "core": (),
    "modes": ("core", "theory"),
    "moves": ("core", "errors", "checks"),
    "zoo": ("errors", "checks"),
    "settings": ("checks", "errors", "plain", "moves", "swaps"),
    "swaps": ("errors", "checks", "plain", "origin", "core"),
    "targets": ("errors", "checks", "extras", "origin", "core", "executors.trouble"),
    "priors": ("core.compile", "core.state", "errors", "checks", "extras", "origin"),
    "models": (
        "targets",
        "priors",
        "zoo",
        "parameters",
        "core.state",
        "errors",
        "checks",
        "extras",
        "keywords",
        "origin",
    ),
    "executors": ("errors", "checks", "origin"),
    "store": ("core.state", "files", "errors"),
    "runs": (
        "core",
        "modes",
        "moves",
        "swaps",
        "targets",
        "settings",
        "executors.contract",
        "executors.cores",
        "executors.threads",
        "executors.trouble",
        "store.contract",
        "theory",
        "errors",
        "checks",
        "plain",
        "text",
        "origin",
    ),
    "results": (
        "core.state",
        "core.mixture",
        "theory",
        "modes",
        "runs.record",
        "runs.seeds",
        "parameters",
        "errors",
        "checks",
        "text",
        "files",
        "extras",
        "origin",
    ),
    "execution": (
        "core.state",
        "models",
        "runs",
        "executors",
        "targets.pooled",
        "store",
        "results",
        "valued",
        "looking",
        "until",
        "errors",
        "checks",
        "text",
    ),
    "valued": ("core.state", "models", "results", "errors"),
    "stored": (
        "core.state",
        "models",
        "runs",
        "store",
        "results",
        "parameters",
        "valued",
        "until",
        "errors",
        "text",
    ),
    "pooling": ("models.contract", "runs", "executors", "targets.pooled", "errors"),
    "automatic": ("models.contract", "pooling", "runs", "executors", "errors"),
    "sampling": (
        "asked",
        "searching",
        "execution",
        "keywords",
        "looking",
        "pooling",
        "automatic",
        "moves",
        "stored",
        "valued",
        "models",
        "swaps",
        "runs",
        "store",
        "results",
        "settings",
        "until",
        "errors",
        "checks",
    ),
    "paper": (
        "core.compile",
        "executors.cores",
        "theory",
        "runs.record",
        "results",
        "sampling",
        "swaps",
        "zoo",
        "settings",
        "errors",
        "checks",
        "text",
        "files",
        "extras",
    ),
    "bilby": ("core.state", "models", "priors", "results", "sampling", "errors", "extras"),
    "numpyro": ("models", "extras"),
    "pymc": (
        "models",
        "results",
        "runs.progress",
        "sampling",
        "settings",
        "swaps",
        "errors",
        "extras",
        "keywords",
    ),
    "demo": ("results", "sampling", "zoo", "settings", "errors", "checks", "text"),
    "searching": ("core.state", "models.contract", "runs", "settings", "errors", "checks"),
    "until": ("checks", "errors", "plain"),
    "looking": ("results", "runs", "store.contract", "until"),
    "asked": (
        "core.state",
        "searching",
        "models",
        "runs",
        "settings",
        "swaps",
        "until",
        "zoo",
        "errors",
        "checks",
    ),
    "arguments": ("", "searching", "until", "errors", "origin"),
    "continuing": ("runs.seeds", "stored", "errors"),
    "cli": (
        "",
        "arguments",
        "continuing",
        "demo",
        "paper",
        "results.storage",
        "results.warnings.explained",
        "stored",
        "errors",
        "extras",
        "files",
        "origin",
    ),
    "": (
        "executors.pool",
        "models",
        "moves",
        "numpyro",
        "priors",
        "pymc",
        "swaps",
        "zoo",
        "errors",
        "results",
        "runs.facts",
        "runs.stopping",
        "searching",
        "sampling",
        "settings",
        "stored",
        "until",
    ),
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def relative(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def layer_of(file: str) -> str:
    """``core`` for core/shape.py, ``settings`` for settings.py, nothing for the package itself."""
    first = file.split("/")[0].removesuffix(".py")
    return "" if first == "__init__" else first


def is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that may run: inside functions too, but not what only a type checker sees."""
    yield node
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            for statement in child.orelse:
                yield from executed(statement)
        else:
            yield from executed(child)


def imported_names(tree: ast.AST, file: str) -> set[str]:
    """Absolute names of all modules and members that a source imports."""
    names = set()
    package = [NAME, *file.split("/")[:-1]]
    for node in executed(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def within_package(tree: ast.AST, file: str) -> set[str]:
    """What is imported of this package, without its name: ``core.state.State``."""
    names = imported_names(tree, file)
    return {name.removeprefix(NAME).lstrip(".") for name in names if name.split(".")[0] == NAME}


def forbidden_imports(source: str, file: str) -> set[str]:
    layer = layer_of(file)
    allowed = (*ALLOWED[layer], layer) if layer else ALLOWED[layer]
    return {
        name
        for name in within_package(ast.parse(source), file)
        if not any(name == prefix or name.startswith(f"{prefix}.") for prefix in allowed)
    }


def unpromised(source: str, file: str) -> set[str]:
    """What a source takes from numba that may change with its next version."""
    if file.startswith(INTERNALS):
        return set()
    nodes = list(executed(ast.parse(source)))
    dotted = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    names = {*imported_names(ast.parse(source), file), *dotted} - {"numba"}
    of_numba = {name for name in names if name.split(".")[0] in ("numba", "llvmlite")}
    kept = {name for name in of_numba if ".".join(name.split(".")[:2]) in PROMISED}
    return (of_numba - kept) | {word for node in nodes for word in words_of(node) if word in UNPROMISED}


def words_of(node: ast.AST) -> list[str]:
    """Names of attributes and of keyword arguments, and texts."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.keyword):
        return [node.arg or ""]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def prints(tree: ast.AST) -> list[int]:
    """Lines that write to the standard output or through click."""
    calls = [node for node in executed(tree) if isinstance(node, ast.Call)]
    return [
        call.lineno
        for call in calls
        if ast.unparse(call.func) in ("print", "echo", "pprint", "secho", "rich.print")
        or ast.unparse(call.func).startswith(("click.echo", "click.secho", "sys.stdout"))
    ]


def odd_letters(tree: ast.AST) -> list[int]:
    """Lines with text, other than docstrings, that a plain terminal cannot show."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        if not node.value.isascii()
    ]


@pytest.mark.parametrize("file", sources(), ids=relative)
def test_what_is_printed_shows_on_every_terminal(file: Path):
    """Figures, pages and the paper's tables have fonts of their own."""
    if not relative(file).startswith(("results/plots/", "results/report/", "paper/")):
        assert odd_letters(ast.parse(file.read_text(encoding="utf-8"))) == []


def test_an_odd_letter_would_be_seen():
    assert odd_letters(ast.parse('"""β"""\nx = f"β = {1}"\n\ndef f():\n    """β"""\n    return "…"')) == [
        2,
        6,
    ]


def test_every_layer_has_a_rule():
    assert {layer_of(relative(file)) for file in sources()} == set(ALLOWED)


@pytest.mark.parametrize("file", sources(), ids=relative)
def test_imports_point_one_way(file: Path):
    assert forbidden_imports(file.read_text(), relative(file)) == set()


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("core/shape.py", "from temperance.errors import DensityError"),
        ("core/shape.py", "def f():\n    import temperance.runs.chain"),
        ("core/shape.py", "from ..settings import Settings"),
        ("core/shape.py", "import temperance"),
        ("swaps/energy.py", "from temperance.targets import gather"),
        ("targets/python.py", "if DEBUG:\n    from temperance import swaps"),
        ("runs/chain.py", "from temperance.results.result import Result"),
        ("results/result.py", "from temperance.runs.chain import ChainRun"),
        ("results/result.py", "from temperance.core import state_of_affairs"),
        ("zoo/peaks.py", "from temperance.core.state import FloatArray"),
        ("sampling.py", "from temperance.cli import main"),
    ],
)
def test_a_wrong_import_would_be_seen(file: str, source: str):
    assert forbidden_imports(source, file)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("core/shape.py", "from temperance.core.state import State"),
        ("core/shape.py", "from .state import State"),
        ("results/summary.py", "from temperance.core import state"),
        ("errors.py", "if TYPE_CHECKING:\n    from temperance.results.result import Result"),
        ("errors.py", "if typing.TYPE_CHECKING:\n    from temperance.results.result import Result"),
    ],
)
def test_a_right_import_passes(file: str, source: str):
    assert not forbidden_imports(source, file)


@pytest.mark.parametrize("file", sources(), ids=relative)
def test_what_numba_does_not_promise_is_taken_in_one_place(file: Path):
    assert unpromised(file.read_text(encoding="utf-8"), relative(file)) == set()


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("from numba.core import cgutils", "numba.core.cgutils"),
        ("def f():\n    from numba.np.numpy_support import from_dtype", "numba.np.numpy_support.from_dtype"),
        ("import llvmlite", "llvmlite"),
        ("from llvmlite import ir", "llvmlite.ir"),
        ("import numba.core.event", "numba.core.event"),
        ("from numba import config", "numba.config"),
        ("import numba\nnumba.config.CACHE_DIR = ''", "numba.config"),
        ("import numba\nnumba.core.registry.CPUDispatcher", "numba.core.registry.CPUDispatcher"),
        ("import numba\nnumba.jit(_nrt=False)", "_nrt"),
        ("import numba\nnumba.jit(**{'forceinline': True})", "forceinline"),
        ("f.overloads[types]", "overloads"),
        ("argument.copy(readonly=True)", "readonly"),
    ],
)
def test_what_numba_does_not_promise_would_be_seen(source: str, seen: str):
    assert seen in unpromised(source, "core/shape.py")
    assert unpromised(source, f"{INTERNALS}functions.py") == set()


def attributes_read(source: str) -> set[str]:
    """Attributes that are looked at; one whose elements are only written is not."""
    nodes = list(ast.walk(ast.parse(source)))
    stores = [node for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    targets = {id(node.value) for node in stores}
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and id(node) not in targets}


def read_in(*folders: str) -> set[str]:
    files = [file for folder in folders for file in (PACKAGE / folder).rglob("*.py")]
    return {name for file in files for name in attributes_read(file.read_text(encoding="utf-8"))}


def test_every_column_of_the_trace_has_a_reader():
    """Each costs memory with every draw. What the loop records somebody must look at, outside the loop."""
    assert set(Trace._fields) - read_in("runs", "results", "paper") == set()


@pytest.mark.parametrize("record", [State, Info, SwapView, Settings, Schedule, Noise, Mixture, Maps, Humps])
def test_every_field_has_a_reader(record: type):
    assert set(record._fields) - read_in("core", "moves", "swaps", "runs", "targets") == set()


def test_a_column_that_is_only_written_would_be_seen():
    source = "trace.drawn[row] = x\ntrace.count[row, 0] += 1\ny = trace.kept[row] + len(trace.rows)"
    assert attributes_read(source) == {"kept", "rows"}


def test_what_numba_promises_passes():
    source = (
        "import numba\nfrom numba import types\nfrom numba.extending import intrinsic\n"
        "from temperance.core.numba_internals.functions import inner\n"
        "@numba.njit(cache=True)\ndef f(x): return numba.types.float64(x)"
    )
    assert unpromised(source, "targets/data.py") == set()


@pytest.mark.parametrize("file", sources(), ids=relative)
def test_only_the_command_line_prints(file: Path):
    lines = prints(ast.parse(file.read_text()))
    assert bool(lines) == (relative(file) in PRINTING), lines


def test_a_print_would_be_seen():
    source = "print(1)\nclick.echo(2)\nsys.stdout.write('3')\nsys.stderr.write('4')"
    assert prints(ast.parse(source)) == [1, 2, 3]


@pytest.mark.parametrize("file", sources(), ids=relative)
def test_no_assert_and_no_bare_except(file: Path):
    bad = [
        node.lineno
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Assert) or (isinstance(node, ast.ExceptHandler) and node.type is None)
    ]
    assert bad == []


@pytest.mark.parametrize(
    "module",
    [
        "temperance",
        "temperance.numpyro",
        "temperance.paper",
        "temperance.priors",
        "temperance.pymc",
        "temperance.results.diagnostics",
        "temperance.results.plots",
        "temperance.swaps",
        "temperance.targets",
        "temperance.zoo",
    ],
)
def test_public_list_is_sorted_and_exists(module: str):
    public = importlib.import_module(module)
    assert public.__all__ == sorted(set(public.__all__))
    assert [name for name in public.__all__ if not hasattr(public, name)] == []


def test_public_list_is_all_that_the_front_page_imports():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    imported = {
        alias.asname or alias.name
        for node in executed(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert set(temperance.__all__) == {name for name in imported if not name.startswith("_")}
    defined = {type(node).__name__ for node in tree.body}
    assert defined <= {"Expr", "ImportFrom", "Assign"}, "the public names and nothing else"


def test_import_is_light():
    """Beyond what numba itself imports: it takes scipy where it finds it."""
    script = (
        "import sys, numba, numpy\n"
        "before = set(sys.modules)\n"
        f"import {NAME}\n"
        f"print([name for name in {HEAVY} if name in set(sys.modules) - before])\n"
        f"print([name for name in {HEAVY} if name in before])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    by_us, by_numba = shown.stdout.splitlines()
    assert by_us == "[]"
    assert by_numba in ("[]", "['scipy']")


def test_typed_marker_is_there():
    assert (PACKAGE / "py.typed").is_file()


def test_the_package_holds_nothing_but_sources():
    strays = {
        relative(file)
        for file in PACKAGE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.name != "py.typed"
        if file.suffix != ".py"
    }
    names = "LICENSE-scikit-learn.txt", "README.md", "diabetes.csv", "posteriors.json"
    data = {f"zoo/data/{name}" for name in names}
    report = {f"results/report/{name}" for name in ("page.html", "style.css")}
    assert strays == data | report | {"core/ziggurat.csv"}
