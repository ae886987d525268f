"""Our sampler with its defaults: nothing is set but the numbers of draws and of tuning iterations."""

from peers.contract import ONE_POINT, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="temperance",
    kind="tempering",
    start=ONE_POINT,
    notes="The defaults, four chains included; a quarter of the budget goes into tuning.",
)


def prepare(task: Task, _density: Density) -> Sampler:
    """Four chains and as many levels as `temperance.sample` takes by itself."""
    from peers.ours import sampler
    from temperance.runs.ladder import DEFAULT_LEVELS

    return sampler(
        task, n_levels=DEFAULT_LEVELS, chains=4, described=f"defaults: 4 chains, {DEFAULT_LEVELS} levels"
    )
