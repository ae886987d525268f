"""Words to the user about compiling, which happens once on a machine and takes a while."""

import contextlib
import warnings
from typing import Any

from temperance.core.cache import NOT_KEPT, substitute_folder
from temperance.core.numba_internals.events import while_compiling
from temperance.core.numba_internals.functions import is_off
from temperance.errors import InvalidInputError, TemperanceWarning
from temperance.runs.progress import tell

LOOP = "run_block"
NOTE = "compiling the sampler for this machine, once; later runs load it from the cache ...\n"


def note_compiling(wanted: bool) -> contextlib.AbstractContextManager[Any]:
    """While this is open, a compilation of the loop is announced, if that is wanted."""
    return while_compiling(_announce) if wanted else contextlib.nullcontext()


def _announce(function: str) -> None:
    if function == LOOP:
        tell(NOTE)


def require_compiler() -> None:
    """Refuse to run where numba may not compile: what the loop calls by its address would not exist."""
    if is_off():
        raise InvalidInputError(
            "NUMBA_DISABLE_JIT is set in the environment, and the sampler only runs compiled; unset it. "
            "A density is debugged by calling it by hand, a compiled one by its py_func"
        )


def warn_of_substitute_cache(caller: int) -> None:
    """Say so when compiled code could not be kept in any of the usual folders, ``caller`` frames up."""
    folder = substitute_folder()
    if folder is None:
        return
    where = "nowhere, and every process compiles again" if folder == NOT_KEPT else f"in {folder}"
    warnings.warn(
        "neither the installation of temperance nor the home folder can be written to: compiled code is kept "
        f"{where}; set NUMBA_CACHE_DIR to a folder that stays",
        TemperanceWarning,
        stacklevel=caller,
    )
