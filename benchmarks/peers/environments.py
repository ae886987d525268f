"""A virtual environment for each peer, made by the runner and kept in the ignored folder out/."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from peers.contract import Peer

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "out" / "peers"
SINGLE_THREADED = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    ),
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",  # the zoo's densities are doubles
}


def interpreter(name: str, peer: Peer) -> Path:
    """The Python of the peer's environment, which is made when it is missing or asks for other packages."""
    if not peer.packages:
        return Path(sys.executable)
    folder = FOLDER / f"env-{name}"
    python, note = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join((*own_requirements(), *peer.packages))
    if not note.exists() or note.read_text(encoding="utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted.split("\n")], check=True)
        note.write_text(wanted, encoding="utf-8")
    return python


def own_requirements() -> list[str]:
    """What the zoo needs, wherever it is imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def variables() -> dict[str, str]:
    """The environment of a worker: one thread, our sources on the path, byte code kept."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("src", "benchmarks"))
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return inherited | SINGLE_THREADED | {"PYTHONPATH": paths}
