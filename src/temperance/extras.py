"""Packages that not every installation has."""

import importlib
from typing import Any

from temperance.errors import TemperanceError


def needed(why: str, *modules: str) -> list[Any]:
    """The modules, or an error that says what to type; ``why`` is its beginning."""
    try:
        return [importlib.import_module(module) for module in modules]
    except ImportError as error:
        packages = [module.partition(".")[0] for module in modules]
        raise TemperanceError(
            f"{why} {' and '.join(packages)}: python -m pip install {' '.join(packages)}"
        ) from error
