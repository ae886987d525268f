"""Run the tutorials and keep their output in the files: ``make notebooks``, when draws have changed."""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "docs" / "tutorial"
KEPT = ("language_info", "kernelspec")


def run(path: Path) -> None:
    """Run one from its first cell to its last, in a folder that is thrown away, and write it back."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": folder}}).execute()
    notebook.metadata = {name: notebook.metadata[name] for name in KEPT if name in notebook.metadata}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # the same each time, so that only what changed differs
        cell.metadata.pop("execution", None)
    nbformat.write(notebook, path)


def main() -> None:
    """All of them, or those that are named: ``python tools/run_notebooks.py first``."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.stem in sys.argv[1:] or len(sys.argv) == 1:
            run(path)


if __name__ == "__main__":
    main()
