"""Write anew what the README shows: the output of its example and the figure of the demo.

Run with ``make docs`` after a change that moves the draws.
"""

import contextlib
import io
import re
from pathlib import Path

from temperance.demo import run_demo

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Refresh the README's output block and its figure."""
    readme = ROOT / "README.md"
    text = readme.read_text()
    example = re.search(r"```python\n(.*?)```", text, re.S)
    if example is None:
        raise SystemExit("README.md has no example")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example[1], {})
    lines = "\n".join(line.rstrip() for line in printed.getvalue().rstrip().split("\n"))
    readme.write_text(
        re.sub(r"```text\n.*?```", lambda _: f"```text\n{lines}\n```", text, count=1, flags=re.S)
    )
    run_demo(seed=1, draws=10_000, out=ROOT / "docs" / "images")


if __name__ == "__main__":
    main()
