"""Environments of their own, for tests of other versions than those installed, or of another Python."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
OURS = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV")  # not to be passed on


def find_python(minors: Iterable[int]) -> str | None:
    """The first of these versions of Python 3 that there is: this one, on the path, or among pyenv's."""
    found = (path for minor in minors for path in candidates(minor) if runs(path, minor))
    return next(found, None)


def candidates(minor: int) -> Iterator[str]:
    yield sys.executable
    on_path = shutil.which(f"python3.{minor}")
    if on_path is not None:
        yield on_path
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(versions.glob(f"3.{minor}.*/bin/python")))


def runs(python: str, minor: int) -> bool:
    """Whether it is that version and more than a name: version managers put stand-ins on the path."""
    shown = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return shown.returncode == 0 and shown.stdout.startswith(f"Python 3.{minor}.")


class Environment:
    """A new environment with a few packages and a cache of its own; ours as it is here, if not said."""

    def __init__(
        self,
        folder: Path,
        python: str,
        packages: Iterable[str],
        ours: Iterable[str] = ("--editable", str(ROOT)),
    ) -> None:
        self.folder = folder
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        # Not compiled: of most packages little is imported.
        self.run("-m", "pip", "install", "--quiet", "--no-compile", *ours, *packages)

    def run(self, *arguments: str) -> str:
        """What its Python prints; an error is shown whole."""
        inherited = {name: value for name, value in os.environ.items() if name not in OURS}
        done = subprocess.run(
            [str(self.folder / "bin" / "python"), *arguments],
            env={**inherited, "NUMBA_CACHE_DIR": str(self.folder / "cache")},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        return done.stdout

    def test(self, *files: str, keyword: str = "", slow: bool = False) -> str:
        """Run quick tests of these files, or slow ones, of a name if one is given; none may be skipped.

        Returned is the line in which pytest counts them.
        """
        paths = [str(ROOT / "tests" / file) for file in files]
        chosen = ("-m", "slow" if slow else "not slow", "-k", keyword)
        shown = self.run("-m", "pytest", "-p", "no:cacheprovider", *chosen, "-rs", *paths)
        assert "skipped" not in shown.lower(), shown[-4000:]
        return shown.strip().splitlines()[-1]
