"""The answer at once: parameters by mode, weights of modes, ladder and flow, with the verdict above."""

import textwrap
from typing import Any

from temperance.results.plots.canvas import needed_matplotlib
from temperance.results.plots.corner import corner
from temperance.results.plots.ladder import ladder
from temperance.results.plots.modes import mode_weights
from temperance.results.plots.swaps import flow
from temperance.results.result import Result
from temperance.results.show import headline

SIZE = (11.0, 7.2)
PARTS = {"weights": mode_weights, "ladder": ladder, "flow": flow}
LETTERS = 120  # a line of the heading
INLINE = "inline"  # how notebooks' backends are called that show a figure once it is open


def overview(result: Result, *, parameters: Any = None) -> Any:
    """A figure with four plots; in a notebook it is shown once, as what the call returns."""
    matplotlib = needed_matplotlib()
    from matplotlib import pyplot

    rows: Any = [["corner", "corner", part] for part in PARTS]
    figure, axes = pyplot.subplot_mosaic(rows, figsize=SIZE, layout="constrained")
    for name, plot in PARTS.items():
        plot(result, ax=axes[name])
        axes[name].set_title(name if name != "weights" else "weights of modes", fontsize="small", loc="left")
    figure.suptitle(heading(result), fontsize="medium", x=0.01, ha="left")
    figure.get_layout_engine().execute(figure)  # so that the largest part knows its room
    corner(result, parameters=parameters, ax=axes["corner"])
    if INLINE in matplotlib.get_backend().lower():
        pyplot.close(figure)  # what is open is shown, and what is returned too
    return figure


def heading(result: Result) -> str:
    """Size and verdict."""
    return "\n".join(textwrap.wrap(result.verdict, LETTERS) + textwrap.wrap(headline(result), LETTERS))
