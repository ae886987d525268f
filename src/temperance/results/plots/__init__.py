"""Pictures of a run. Each function draws into ``ax``, or into a new figure, and returns the axis."""

from temperance.results.plots.corner import corner
from temperance.results.plots.draws import ranks, trace
from temperance.results.plots.ladder import ladder, ladder_history, level_count, scales
from temperance.results.plots.levels import draws_by_level
from temperance.results.plots.modes import mode_weights, occupancy
from temperance.results.plots.swaps import barrier, flow, replica_paths, swap_acceptance

__all__ = [
    "barrier",
    "corner",
    "draws_by_level",
    "flow",
    "ladder",
    "ladder_history",
    "level_count",
    "mode_weights",
    "occupancy",
    "ranks",
    "replica_paths",
    "scales",
    "swap_acceptance",
    "trace",
]
