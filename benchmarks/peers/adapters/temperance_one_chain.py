"""Our sampler with its defaults, but one chain."""

from peers.contract import ONE_POINT, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="temperance, one chain",
    kind="tempering",
    start=ONE_POINT,
    notes="The defaults but `chains=1`; 45 % of the budget goes into tuning.",
)


def prepare(task: Task, _density: Density) -> Sampler:
    """One chain, and levels as `temperance.sample` takes them by itself."""
    from peers.ours import sampler

    return sampler(task, weighted=True, chains=1)
