"""Models of other libraries: one file each, which makes a `ModelSpec` of what people have already.

A model is known by its class or by what it can do: nothing is imported to tell of what kind it is.
"""

import importlib
from collections.abc import Callable
from typing import Any

from temperance.extras import tested
from temperance.models.contract import ModelSpec
from temperance.models.frontends import stan
from temperance.models.frontends.stan import is_stan

# From the class, as its library calls it, to the module here, which is called as the library is.
BY_CLASS = {"pymc.Model": "pymc"}


def frontend(model: Any) -> Callable[[Any], ModelSpec] | None:
    """What makes a specification of such an object; None of one that no library here knows."""
    names = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(model).__mro__}
    found = [module for name, module in BY_CLASS.items() if name in names]
    if not found and is_stan(model):
        return _of_tested("bridgestan", stan.spec)
    if not found:
        return None
    return _of_tested(found[0], importlib.import_module(f"{__name__}.{found[0]}").spec)


def _of_tested(package: str, spec: Callable[[Any], ModelSpec]) -> Callable[[Any], ModelSpec]:
    def made(model: Any) -> ModelSpec:
        with tested(package):
            return spec(model)

    return made
