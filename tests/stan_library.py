"""A model of Stan as a library, from packages of the index alone: headers and stanc come with httpstan."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "stan"


def built(source: Path, folder: Path) -> Path:
    """The library of a model, compiled into a folder; the test is skipped where that cannot be."""
    found, compiler = importlib.util.find_spec("httpstan"), shutil.which("g++")
    if found is None or not found.submodule_search_locations or compiler is None:
        pytest.skip("httpstan, which has the headers of Stan, or g++ is not installed here")
    home = Path(found.submodule_search_locations[0])
    return compiled(source, home, compiler, folder)


def compiled(source: Path, home: Path, compiler: str, folder: Path) -> Path:
    """From a model to C++ to a library that has BridgeStan's interface."""
    translator, name = folder / "stanc", source.stem
    shutil.copy(home / "stanc", translator)
    translator.chmod(0o755)
    subprocess.run([translator, f"--o={folder / name}.hpp", source], check=True)
    library = folder / f"{name}.so"
    command = [
        *(compiler, "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS"),
        *(f'-DMODEL="{name}.hpp"', f"-I{home / 'include'}", f"-I{home / 'include' / 'tbb'}", f"-I{folder}"),
        *(str(SOURCES / "shim.cpp"), "-o", str(library)),
        *(f"-L{home / 'lib'}", "-ltbb", f"-Wl,-rpath,{home / 'lib'}"),
    ]
    subprocess.run(command, check=True)
    return library
