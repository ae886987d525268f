"""Our sampler with its defaults but one chain, judged by its weighted sample."""

from peers.contract import ONE_POINT, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="temperance, one chain, weighted",
    kind="tempering",
    start=ONE_POINT,
    notes="The same runs as those of one chain, by `result.weighted`: draws and jump proposals "
    "together. The time of the weights is in its CPU time.",
)


def prepare(task: Task, _density: Density) -> Sampler:
    """One chain, and levels as `temperance.sample` takes them by itself."""
    from peers.ours import sampler

    return sampler(task, weighted=True, chains=1)
