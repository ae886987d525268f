"""Error against CPU time, one panel for each task, for docs/peers.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from peers.contract import OURS, load_adapter
from peers.summary import Cell, headline, headline_estimate

STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "temperance",  # the same bytes each time
}
MARKERS = {
    "tempering": "o",
    "tempered ensemble": "s",
    "ensemble, not tempered": "x",
    "sequential Monte Carlo": "^",
    "nested sampling": "D",
    "nested importance sampling": "P",
}
PANELS = (2, 3)
CROWDED = 300.0  # beyond this ratio of its ends an axis has labels at powers of ten only


def draw(cells: Mapping[str, Sequence[Cell]], path: Path) -> None:
    """All tasks, and the legend in the last panel."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(*PANELS, figsize=(10.0, 6.4), layout="constrained")
        peers = list(dict.fromkeys(cell.peer for found in cells.values() for cell in found))
        colours = _colours(pyplot, peers)
        for axis, found in zip(axes.flat, cells.values(), strict=False):
            _panel(axis, found, colours)
        _legend(axes.flat[-1], colours)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)


def _panel(axis: Any, cells: Sequence[Cell], colours: Mapping[str, Any]) -> None:
    for cell in cells:
        error, seconds = headline_estimate(cell), float(cell.columns["cpu_seconds"].mean())
        below, above = error.value - error.low, error.high - error.value
        bars = None if np.isnan(below) else [[max(below, 0.0)], [max(above, 0.0)]]
        axis.errorbar(seconds, error.value, yerr=bars, capsize=2, elinewidth=0.8, **_look(cell.peer, colours))
    task = cells[0].task
    axis.set(xscale="log", yscale="log", title=f"{task.key.replace('_', ' ')}, {task.budget:,} evaluations")
    for side in (axis.xaxis, axis.yaxis):
        _plain_ticks(side)
    axis.set(xlabel="CPU seconds of a run", ylabel=headline(cells[0])[0])
    axis.grid(alpha=0.25, which="major")


def _plain_ticks(side: Any) -> None:
    """Numbers as people write them, also on an axis shorter than a decade."""
    from matplotlib import ticker

    low, high = side.get_view_interval()
    wide = high > CROWDED * low
    side.set_major_locator(ticker.LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=12))
    side.set_major_formatter(ticker.FormatStrFormatter("%g"))
    side.set_minor_locator(ticker.NullLocator())


def _legend(axis: Any, colours: Mapping[str, Any]) -> None:
    axis.set_axis_off()
    for peer in colours:
        axis.plot([], [], linestyle="", label=load_adapter(peer).PEER.title, **_look(peer, colours))
    axis.legend(loc="center", frameon=False)


def _look(peer: str, colours: Mapping[str, Any]) -> dict[str, Any]:
    size = 7 if peer in OURS else 5
    filled = "full" if peer.endswith("weighted") or peer not in OURS else "none"
    marker = MARKERS[load_adapter(peer).PEER.kind]
    return {"color": colours[peer], "marker": marker, "markersize": size, "fillstyle": filled}


def _colours(pyplot: Any, peers: Sequence[str]) -> dict[str, Any]:
    """Ours in blacks and greys, the others told apart by hue as well as by shape."""
    greys = dict(zip(OURS, ("0.0", "0.0", "0.35", "0.35", "0.6"), strict=True))
    others = [peer for peer in peers if peer not in OURS]
    hues = pyplot.get_cmap("tab20")(np.linspace(0.0, 1.0, 20)[: len(others)])
    return {peer: greys.get(peer, hues[others.index(peer)] if peer in others else None) for peer in peers}
