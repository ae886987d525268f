"""Our sampler with its defaults, but one chain instead of four."""

from peers.contract import ONE_POINT, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="temperance, one chain",
    kind="tempering",
    start=ONE_POINT,
    notes="The defaults but `chains=1`; a quarter of the budget goes into tuning.",
)


def prepare(task: Task, _density: Density) -> Sampler:
    """One chain and as many levels as `temperance.sample` takes by itself."""
    from peers.ours import sampler
    from temperance.runs.ladder import DEFAULT_LEVELS

    return sampler(task, n_levels=DEFAULT_LEVELS, chains=1, described=f"1 chain, {DEFAULT_LEVELS} levels")
