"""The name by which a model can be found again: its functions are never stored."""

from typing import Any

from temperance.models.model import Model
from temperance.zoo import Problem
from temperance.zoo.registry import key_of

ZOO = "zoo"


def reference_of(model: Any) -> str | None:
    """``zoo:NAME`` for a target of the zoo, MODULE:NAME for what can be imported, None for the rest."""
    if isinstance(model, Problem):
        key = key_of(model)
        return None if key is None else f"{ZOO}:{key}"
    if isinstance(model, Model):
        return model.reference
    home, name = getattr(model, "__module__", None), getattr(model, "__qualname__", None)
    named = isinstance(home, str) and isinstance(name, str) and home != "__main__" and "<" not in name
    return f"{home}:{name}" if named else None
