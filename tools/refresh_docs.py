"""Write anew what the pages show: the output of the README's example and the figures of the demo.

Run with ``make docs`` after a change that moves the draws.
"""

import contextlib
import io
import re
from pathlib import Path

from temperance import Result, plots
from temperance.demo import draw_demo, run_demo
from temperance.results.plots.canvas import pyplot

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
    images = ROOT / "docs" / "images"
    result = run_demo(seed=1, draws=10_000)
    draw_demo(result, images)
    draw_results(result, images / "results.png")


def draw_results(result: Result, path: Path) -> None:
    """Four plots of one run."""
    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(9.0, 5.4), layout="constrained")
    shown = (plots.scales, plots.occupancy, plots.trace, plots.replica_paths)
    for plot, ax in zip(shown, axes.flat, strict=True):
        plot(result, ax=ax)
    figure.savefig(path, dpi=80)
    plt.close(figure)


if __name__ == "__main__":
    main()
