"""The figures of the report, as inline SVG that follows the colours of the page."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from temperance.results import plots
from temperance.results.plots.canvas import needed_matplotlib
from temperance.results.result import Result

INK = "#010203"  # stands for whatever colour the page writes in
STYLE = {
    "font.size": 10.5,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
TAG = re.compile(r"<[^>]*>")
LONG_NUMBER = re.compile(r"(\d\.\d\d)\d+")  # a hundredth of a point is enough; what people read stays
RASTER_DPI = 120
SIZE = (6.2, 3.4)
SQUARE = (6.2, 4.2)
PANEL_ROW = 2.0  # inches for each row of panels


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the page: how it is drawn, what it shows, and how to read it."""

    name: str
    title: str
    caption: str
    draw: Callable[..., Any]
    size: tuple[float, float] = SIZE


FIGURES = (
    Figure(
        name="corner",
        title="Parameters",
        caption="Marginals and pairs, coloured by mode, by the weighted sample where there is one.",
        draw=plots.corner,
        size=(7.4, 6.0),
    ),
    Figure(
        name="weights",
        title="Weights of modes",
        caption="The weight of each mode with two standard errors to each side, the heaviest mode first.",
        draw=plots.mode_weights,
    ),
    Figure(
        name="scales",
        title="Scale against threshold",
        caption="The scale of the walk at each level. At or above the line a level passes for unimodal; the "
        "hottest level should.",
        draw=plots.scales,
    ),
    Figure(
        name="occupancy",
        title="Modes by chain",
        caption="The share of the draws in each mode found, for all chains together and for each. Marks that "
        "lie apart mean weights that cannot be trusted.",
        draw=plots.occupancy,
    ),
    Figure(
        name="trace",
        title="Trace",
        caption="The draws of the parameter with the fewest effective draws, one line a chain.",
        draw=plots.trace,
    ),
    Figure(
        name="ranks",
        title="Ranks",
        caption="How the ranks of that parameter spread over the chains: bars as high as the dotted line "
        "mean that the chains agree.",
        draw=plots.ranks,
    ),
    Figure(
        name="ladder",
        title="Ladder",
        caption="The temperature of each level at the end, one line a chain.",
        draw=plots.ladder,
    ),
    Figure(
        name="history",
        title="History of the ladder",
        caption="The temperatures of the first chain over tuning and draws. Lines that still climb or fall "
        "where the draws begin ask for longer tuning.",
        draw=plots.ladder_history,
    ),
    Figure(
        name="levels",
        title="Number of levels",
        caption="How many levels each chain had over time.",
        draw=plots.level_count,
    ),
    Figure(
        name="acceptance",
        title="Swap acceptance",
        caption="How often each pair of levels of the first chain would exchange positions. A dark cell "
        "beside the diagonal is a dead edge.",
        draw=plots.swap_acceptance,
        size=SQUARE,
    ),
    Figure(
        name="paths",
        title="Replica paths",
        caption="The level of each position of the first chain over its first draws; the red one moved most.",
        draw=plots.replica_paths,
    ),
    Figure(
        name="flow",
        title="Replica flow",
        caption="The share of positions that came from the first level, at each level. A steep step is an "
        "edge that few cross.",
        draw=plots.flow,
    ),
    Figure(
        name="barrier",
        title="Barrier",
        caption="The local barrier at each level, and the whole barrier Λ of each chain.",
        draw=plots.barrier,
    ),
)
BY_LEVEL = Figure(
    name="panels",
    title="Draws by level",
    caption="Two parameters at every level of one chain; only the first level is the answer. "
    "Grey panels are hotter than the first level that passes for unimodal.",
    draw=plots.draws_by_level,
)


def inline_svg(figure: Figure, result: Result) -> str:
    """A figure as SVG with a text alternative, whose ids are its own on the page."""
    matplotlib = needed_matplotlib()
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context({**STYLE, "svg.hashsalt": figure.name}):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        figure.draw(result, ax=canvas.subplots())
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", transparent=True, dpi=RASTER_DPI, metadata={"Date": None})
    return _embedded(buffer.getvalue(), figure)


def _embedded(svg: str, figure: Figure) -> str:
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{figure.name}-", body)
    body = TAG.sub(lambda tag: LONG_NUMBER.sub(r"\1", tag[0]), body)
    body = body.replace(INK, "currentColor")
    label = f"{figure.title}. {figure.caption}"
    return body.replace("<svg", f'<svg role="img" aria-label="{label}" class="figure"', 1)
