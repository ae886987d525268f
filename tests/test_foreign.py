"""Functions by their address: C, numba's cfunc, SciPy's LowLevelCallable, Python behind ctypes."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numpy.ctypeslib import ndpointer
from scipy import LowLevelCallable

import temperance as tp

TINY = {"draws": 40, "tune": 60, "chains": 2, "levels": 3, "seed": 5, "progress": False}
STARTED = {**TINY, "initial": np.zeros(2)}
DOUBLES = ctypes.POINTER(ctypes.c_double)
PAGE = Path(__file__).parent.parent / "docs" / "models.md"
SOURCE = """
double pair(const double *x) { return -0.5 * (x[0] * x[0] + x[1] * x[1]); }
double sized(const double *x, long n) {
    double total = 0;
    for (long i = 0; i < n; i++) total -= 0.5 * x[i] * x[i];
    return total;
}
double counted(int n, const double *x) { return sized(x, n); }
double scaled(int n, const double *x, void *by) { return *(double *)by * sized(x, n); }
"""
SIGNATURES = {
    "pair": [DOUBLES],
    "sized": [DOUBLES, ctypes.c_long],
    "counted": [ctypes.c_int, DOUBLES],
    "scaled": [ctypes.c_int, DOUBLES, ctypes.c_void_p],
}


@numba.njit
def same(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= 0.5 * x[i] * x[i]
    return total


@numba.njit
def wells(x):
    """What the examples of the page have in other languages."""
    total = 0.0
    for i in range(x.shape[0]):
        off = x[i] * x[i] - 4.0
        total -= 0.5 * off * off
    return total


@numba.cfunc("float64(CPointer(float64), intc)")
def from_numba(point, n):
    total = 0.0
    for i in range(n):
        total -= 0.5 * point[i] * point[i]
    return total


@numba.cfunc("float64(CPointer(float64))")
def fails(point):
    if point[0] != 0.0:
        raise ValueError("in C")
    return 0.0


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    folder = tmp_path_factory.mktemp("library")
    (folder / "density.c").write_text(SOURCE)
    command = [compiler, "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-o", "density.so", "density.c"]
    subprocess.run(command, cwd=folder, check=True)
    loaded = ctypes.CDLL(str(folder / "density.so"))
    for name, argtypes in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_double, argtypes
    return loaded


@pytest.fixture(scope="module")
def expected():
    return tp.sample(same, **STARTED).draws


@pytest.mark.parametrize("name", ["pair", "sized", "counted"])
def test_a_function_of_c_gives_the_draws_of_the_same_in_numba(name, library, expected):
    """Broken: arguments in another order, or a dimension that does not arrive."""
    result = tp.sample(getattr(library, name), **STARTED)
    np.testing.assert_array_equal(result.draws, expected)
    assert result.setup.settings["log density"] == name


LANGUAGES = {
    "fortran": ("gfortran -O1 -shared -fPIC -ffp-contract=off -o density.so density.f90", "f90"),
    "rust": ("rustc -O --crate-type cdylib -o density.so density.rs", "rs"),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_of_another_language_gives_the_draws_of_the_same_in_numba(language, tmp_path):
    """The source is that of the page; broken: a dimension that does not arrive as a number."""
    command, ending = LANGUAGES[language]
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"there is no {command.split()[0]} here")
    source = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / f"density.{ending}").write_text(source[1])
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "density.so")).log_density
    function.restype, function.argtypes = ctypes.c_double, [DOUBLES, ctypes.c_int]
    one, two = (tp.sample(density, **{**STARTED, "initial": np.ones(3)}) for density in (function, wells))
    np.testing.assert_array_equal(one.draws, two.draws)


def test_user_data_arrives(library):
    number = np.array([3.0])
    callable_ = LowLevelCallable(library.scaled, number.ctypes.data_as(ctypes.c_void_p))
    one, two = tp.sample(callable_, **STARTED), tp.sample(numba.njit(lambda x: 3.0 * same(x)), **STARTED)
    np.testing.assert_array_equal(one.draws, two.draws)


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: f.ctypes, lambda f: LowLevelCallable(f.ctypes)])
def test_cfunc_of_numba(wrap, expected):
    np.testing.assert_array_equal(tp.sample(wrap(from_numba), **STARTED).draws, expected)


def test_pointers_may_be_declared_in_other_ways(library, expected):
    library.sized.argtypes = [ndpointer(np.float64), ctypes.c_long]
    np.testing.assert_array_equal(tp.sample(library.sized, **STARTED).draws, expected)
    library.sized.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    np.testing.assert_array_equal(tp.sample(library.sized, **STARTED).draws, expected)


def test_a_likelihood_of_c_with_priors_of_ours():
    priors = {"place": tp.priors.normal(0, 1), "scale": tp.priors.half_normal(1)}
    one = tp.sample(tp.Model(from_numba, parameters=priors), **TINY)
    two = tp.sample(tp.Model(same, parameters=priors), **TINY)
    np.testing.assert_array_equal(one["scale"], two["scale"])


def test_parts_and_models_take_them_too():
    parts = {"log_likelihood": from_numba, "log_prior": same}
    one = tp.sample(**parts, **STARTED)
    two = tp.sample(SimpleNamespace(dim=2, start=np.zeros(2), **parts), **TINY)
    np.testing.assert_array_equal(one.draws, two.draws)


def of_python(x):
    return 1.0 / 0.0 if x[0] else 0.0


@pytest.mark.parametrize(
    "density", [fails, ctypes.CFUNCTYPE(ctypes.c_double, DOUBLES)(of_python)], ids=["numba", "python"]
)
def test_an_error_inside_is_no_log_density(density):
    """Broken: what the call returns then is taken; numba returns 0, ctypes whatever was there."""
    with pytest.raises(tp.DensityError, match="raised an error in chain 1, level"):
        tp.sample(density, **STARTED)


def undeclared(library):
    function = ctypes.CDLL(library._name).pair
    function.restype = ctypes.c_double
    return function


def with_types(library, restype, *argtypes):
    function = ctypes.CDLL(library._name).pair
    function.restype, function.argtypes = restype, argtypes
    return function


REFUSED = {
    "undeclared": (undeclared, r"pair: ctypes must be told its types, as in pair.restype = ctypes.c_double"),
    "returns int": (
        lambda lib: with_types(lib, ctypes.c_int, DOUBLES),
        r"must be double .*; got int \(double",
    ),
    "float": (
        lambda lib: with_types(lib, ctypes.c_double, ctypes.POINTER(ctypes.c_float)),
        r"got double \(LP_c_float\)",
    ),
    "interpreter": (
        lambda lib: ctypes.PyDLL(lib._name).pair,
        "needs Python's lock.* ctypes.CDLL instead of PyDLL",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_another_signature_is_refused(name, library):
    make, message = REFUSED[name]
    with pytest.raises(tp.InvalidTypeError, match=message):
        tp.sample(make(library), **STARTED)


def test_data_are_refused_beside_one():
    with pytest.raises(tp.InvalidTypeError, match=r"from_numba does not take it"):
        tp.sample(from_numba, data=np.zeros(2), **STARTED)
