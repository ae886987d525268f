"""Models of other libraries: one file each, which makes a `ModelSpec` of what people have already.

A model is known by its class, so that nothing is imported to tell that an object is of another kind.
"""

import importlib
from collections.abc import Callable
from typing import Any

from temperance.models.contract import ModelSpec

# From the class, as its library calls it, to the module here.
BY_CLASS = {"pymc.Model": "pymc"}


def frontend(model: Any) -> Callable[[Any], ModelSpec] | None:
    """What makes a specification of such an object; None of one that no library here knows."""
    names = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(model).__mro__}
    found = [module for name, module in BY_CLASS.items() if name in names]
    if not found:
        return None
    made: Callable[[Any], ModelSpec] = importlib.import_module(f"{__name__}.{found[0]}").spec
    return made
