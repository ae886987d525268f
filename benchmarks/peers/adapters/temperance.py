"""Our sampler with its defaults: nothing is set but the numbers of draws and of tuning iterations."""

from peers.contract import ONE_POINT, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="temperance",
    kind="tempering",
    start=ONE_POINT,
    notes="The defaults; 45 % of the budget goes into tuning.",
)


def prepare(task: Task, _density: Density) -> Sampler:
    """Chains and levels as `temperance.sample` takes them by itself."""
    from peers.ours import sampler

    return sampler(task, weighted=True)
