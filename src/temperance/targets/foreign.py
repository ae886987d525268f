"""Functions of other languages, found by their address, as functions that the compiled loop can call.

What is taken: a function of ctypes whose types are declared, a ``numba.cfunc``, a ``scipy.LowLevelCallable``.
It returns a double, and its arguments are one of

====================================  ==========================================================
``(const double *x)``                 the point
``(const double *x, int n)``          and its dimension, a whole number of any size
``(int n, const double *x)``          the same the other way round, as SciPy has it
``(int n, const double *x, void *p)`` and the ``user_data`` of a ``LowLevelCallable``
====================================  ==========================================================
"""

import ctypes
import functools
import re
from typing import Any

import numba

from temperance.errors import InvalidTypeError
from temperance.origin import function_name

POINTER, COUNT, ANYTHING = "double *", "int", "void *"
FORMS = ((POINTER,), (POINTER, COUNT), (COUNT, POINTER), (COUNT, POINTER, ANYTHING))
ALLOWED = " or ".join(f"double ({', '.join(form)})" for form in FORMS)
WHOLE_WORDS = ("int", "long", "longlong", "size_t", "int64_t", "Py_ssize_t")
NEEDS_THE_INTERPRETER = 4  # a flag of ctypes: functions of a PyDLL
Form = tuple[str, tuple[str, ...]]  # what is returned, and the arguments

_POINTER_TO_FUNCTION = ctypes.CFUNCTYPE(None).__bases__[0]  # of which ctypes makes all of them
_WHOLE = (ctypes.c_int, ctypes.c_uint, ctypes.c_long, ctypes.c_ulong, ctypes.c_longlong, ctypes.c_ulonglong)
_NAMES: dict[Any, str] = {
    ctypes.POINTER(ctypes.c_double): POINTER,
    ctypes.c_double: "double",
    ctypes.c_void_p: ANYTHING,
    None: "void",
} | dict.fromkeys(_WHOLE, COUNT)


def is_foreign(given: Any) -> bool:
    """Whether this is a function by its address."""
    return isinstance(given, _POINTER_TO_FUNCTION) or _is_cfunc(given) or _is_low_level(given)


def compiled_from(given: Any) -> Any:
    """A function that only has an address as one that is compiled; any other object as it is."""
    if not is_foreign(given):
        return given
    if _is_low_level(given):
        name = function_name(given.function)
        form = _parsed(name, given.signature)
        made = _by_address(name, _address(name, given.function), form, _address(name, given.user_data))
    else:
        name, pointer = function_name(given), given.ctypes if _is_cfunc(given) else given
        made = _by_address(name, _address(name, pointer), _declared(name, pointer), 0)
    made.keep_alive = given  # code of ours is of no use when the library is gone
    return made


def _is_cfunc(given: Any) -> bool:
    return isinstance(getattr(given, "ctypes", None), _POINTER_TO_FUNCTION) and hasattr(given, "native_name")


def _is_low_level(given: Any) -> bool:
    kind = type(given)
    return kind.__name__ == "LowLevelCallable" and kind.__module__.startswith("scipy.")


def _declared(name: str, pointer: Any) -> Form:
    """What ctypes was told of a function."""
    if pointer._flags_ & NEEDS_THE_INTERPRETER:
        raise InvalidTypeError(
            f"{name} needs Python's lock, which the compiled loop does not hold; load it with ctypes.CDLL "
            "instead of PyDLL"
        )
    if pointer.argtypes is None:
        raise InvalidTypeError(
            f"{name}: ctypes must be told its types, as in {name}.restype = ctypes.c_double and "
            f"{name}.argtypes = [ctypes.POINTER(ctypes.c_double), ctypes.c_int]; they may be {ALLOWED}"
        )
    return _kind(pointer.restype), tuple(_kind(kind) for kind in pointer.argtypes)


def _kind(declared: Any) -> str:
    """What a type of ctypes is called in C, as far as it is allowed."""
    if getattr(declared, "_dtype_", None) == "float64":  # numpy.ctypeslib.ndpointer
        return POINTER
    return _NAMES.get(declared, getattr(declared, "__name__", str(declared)))


def _parsed(name: str, signature: str) -> Form:
    """``double (int, double *)``, as SciPy tells it."""
    found = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", signature)
    if found is None:
        raise InvalidTypeError(f"{name}: its signature must be {ALLOWED}; got {signature!r}")
    words = [re.sub(r"\bconst\b|\s+", "", word).replace("*", " *") for word in found[2].split(",")]
    return found[1], tuple(COUNT if word in WHOLE_WORDS else word for word in words)


def _address(name: str, given: Any) -> int:
    """Where something is: what a pointer of ctypes, a capsule or None holds."""
    if given is None:
        return 0
    if type(given).__name__ == "PyCapsule":
        return _in_capsule(given)
    try:
        return int(ctypes.cast(given, ctypes.c_void_p).value or 0)
    except ctypes.ArgumentError as error:
        kind = type(given).__name__
        raise InvalidTypeError(f"{name} must be a function of ctypes or a capsule, got {kind}") from error


def _in_capsule(capsule: Any) -> int:
    pointer_of, name_of = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return int(pointer_of(capsule, name_of(capsule)))


def _by_address(name: str, address: int, form: Form, user_data: int) -> Any:
    returned, arguments = form
    # Pointers to anything may be what somebody declares for the point.
    taken = tuple(POINTER if word == ANYTHING and k < 2 else word for k, word in enumerate(arguments))
    if returned != "double" or taken not in FORMS:
        raise InvalidTypeError(f"{name} must be {ALLOWED}; got {returned} ({', '.join(arguments)})")
    return _made(name, address, taken, user_data)


@functools.lru_cache(maxsize=64)
def _made(name: str, address: int, form: tuple[str, ...], user_data: int) -> Any:
    """The call, compiled; the same when asked again for the same function, so that nothing compiles anew.

    A number goes in one register whatever its size, and the function reads as much of it as it wants.
    """
    types = {POINTER: ctypes.c_void_p, COUNT: ctypes.c_ssize_t, ANYTHING: ctypes.c_void_p}
    function = ctypes.CFUNCTYPE(ctypes.c_double, *(types[word] for word in form))(address)
    calls: dict[tuple[str, ...], Any] = {
        (POINTER,): lambda x: function(x.ctypes),
        (POINTER, COUNT): lambda x: function(x.ctypes, x.shape[0]),
        (COUNT, POINTER): lambda x: function(x.shape[0], x.ctypes),
        (COUNT, POINTER, ANYTHING): lambda x: function(x.shape[0], x.ctypes, user_data),
    }
    call = calls[form]
    call.__name__ = name
    return numba.njit(call)
