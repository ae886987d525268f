"""Words of the command line as what they name: models, data, numbers, goals; and errors in one line."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

INTERRUPTED = 130  # what a shell expects of a program that Ctrl-C ended


def named_model(reference: str) -> Any:
    """The log density or the model that a reference names."""
    import temperance

    module, _, name = reference.partition(":")
    if module != "zoo":
        model = named_object(reference)
        if isinstance(model, temperance.Model):
            model.reference = reference  # so that a stored run knows it, too
        return model
    with one_line_errors():
        return temperance.zoo.get(name)


def named_object(reference: str) -> Any:
    """The object that ``module:name`` names."""
    from temperance.origin import came_from

    module_name, _, name = reference.partition(":")
    refusal = f"{reference!r} must name a function as MODULE:FUNCTION"
    if not (name and all(module_name.split("."))):
        raise click.ClickException(refusal)
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
        if hasattr(module, name):
            return getattr(module, name)
    except Exception as error:  # whatever the user's module does when it is imported
        absent = isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}.")
        said = refusal if absent else f"importing {module_name} failed"
        raise click.ClickException(f"{said}: {type(error).__name__}: {error}{came_from(error)}") from error
    raise click.ClickException(f"{refusal}: {module_name} has no {name!r}")


def with_data(model: Any, data: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A model with these data; of a function they are an option of the run."""
    import temperance

    if isinstance(model, temperance.Model):
        return model.with_data(data), options
    return model, {**options, "data": data}


def data_from(path: Path) -> Any:
    """The arrays of a file."""
    import numpy as np

    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return tuple(arrays[name] for name in arrays.files)
        if path.suffix == ".csv":
            return _table(path)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"--data: {path} cannot be read: {error}") from error
    raise click.ClickException(f"--data must be a .npy, .npz or .csv file, got {path}")


def _table(path: Path) -> Any:
    """The numbers of a table, (row, column); a first line that has none is a heading."""
    import numpy as np

    lines = path.read_text(encoding="utf-8-sig").splitlines()
    try:
        return np.loadtxt(lines, delimiter=",", ndmin=2)
    except ValueError:
        return np.loadtxt(lines[1:], delimiter=",", ndmin=2)


def numbers_from(text: str) -> list[float]:
    """Numbers with commas between."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise click.BadParameter(f"numbers separated by commas are expected, got {text!r}") from error


def goals_from(text: str | None) -> Any:
    """Goals and budgets, or none."""
    from temperance.until import until_from_words

    with one_line_errors():
        return None if text is None else until_from_words(text)


def search_from(text: str | None) -> Any:
    """A wider search, or none."""
    from temperance.searching import search_from_words

    with one_line_errors():
        return None if text is None else search_from_words(text)


@contextlib.contextmanager
def one_line_errors(option: str = "") -> Iterator[None]:
    """Turn our errors, and those of the files of an option, into one line instead of a traceback."""
    from temperance.errors import TemperanceError

    try:
        yield
    except TemperanceError as error:
        said = str(error)
        renamed = f"--out{said.removeprefix('store')}" if said.startswith("store:") else said
        raise click.ClickException(renamed) from error
    except OSError as error:
        if not option:
            raise
        raise click.ClickException(f"{option} cannot be written: {error.strerror or error}") from error
    except KeyboardInterrupt as error:  # before there was a run to keep, or after
        raise SystemExit(INTERRUPTED) from error
