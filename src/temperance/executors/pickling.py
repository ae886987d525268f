"""Functions and data as bytes: by cloudpickle where it is installed, by pickle where that does."""

import importlib
import importlib.util
import pickle
from typing import Any

from temperance.errors import InvalidInputError

MAIN = b"__main__"  # what pickle calls functions of a script, a notebook or a prompt; workers have none of it


def has_cloudpickle() -> bool:
    """Whether functions can be sent that are not in a module."""
    return importlib.util.find_spec("cloudpickle") is not None


def dumps(thing: Any) -> bytes:
    """Anything as bytes, which `pickle.loads` reads."""
    if not has_cloudpickle():
        return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    made: bytes = importlib.import_module("cloudpickle").dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    return made


def sendable(thing: Any, name: str) -> bytes:
    """A function with its data as bytes, or an error that says what to do; ``name`` is what it is called."""
    cure = (
        "write it as a function of a module, and let it open files, locks and connections itself"
        if has_cloudpickle()
        else "python -m pip install cloudpickle, without which only plain functions of modules can be sent"
    )
    try:
        made = dumps(thing)
    except Exception as error:
        raise InvalidInputError(
            f"pool: {name} cannot be sent to workers ({type(error).__name__}: {error}); {cure}"
        ) from error
    if not has_cloudpickle() and MAIN in made:
        raise InvalidInputError(
            f"pool: {name} cannot be sent to workers, since it is in no module that they can import; {cure}"
        )
    return made
