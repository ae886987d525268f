"""Packages that not every installation has, and the versions of them that were tested."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from temperance.errors import TemperanceError

# The lowest version that is taken and the newest that our tests have seen; a newer one may do as well.
TESTED = {
    "bilby": ("2.8", "2.8"),
    "bridgestan": ("2.6", "2.9"),
    "jax": ("0.7", "0.12"),
    "numpyro": ("0.22", "0.22"),
    "pymc": ("5.28", "6.4"),
}


def needed(why: str, *modules: str) -> list[Any]:
    """The modules, or an error that says what to type; ``why`` is its beginning."""
    try:
        return [importlib.import_module(module) for module in modules]
    except ImportError as error:
        packages = dict.fromkeys(module.partition(".")[0] for module in modules)
        raise TemperanceError(
            f"{why} {' and '.join(packages)}: python -m pip install {' '.join(packages)}"
        ) from error


@contextmanager
def tested(package: str) -> Iterator[None]:
    """Refuse a version that is too old; an error in a newer one than was tested is told with that."""
    require_version(package)
    try:
        yield
    except TemperanceError:
        raise
    except Exception as error:
        version, newest = _installed(package), TESTED[package][1]
        if version is not None and _numbers(version) > _numbers(newest):
            error.add_note(f"{package} {version} is newer than what temperance was tested with, {newest}")
        raise


def require_version(package: str) -> None:
    """Refuse a version that is too old; one that nobody installed is none of our business."""
    version, lowest = _installed(package), TESTED[package][0]
    if version is not None and _numbers(version) < _numbers(lowest):
        raise TemperanceError(
            f"{package} must be {lowest} or newer, and {version} is installed: "
            f'python -m pip install --upgrade "{package}>={lowest}"'
        )


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")[:2])
