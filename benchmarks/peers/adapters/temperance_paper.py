"""Our sampler as the paper prints it: everlasting adaptation, equi-energy swaps, a fixed number of levels."""

from peers.contract import ONE_POINT, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="temperance, the paper's setting",
    kind="tempering",
    start=ONE_POINT,
    notes="`paper_settings(trim=False)`, one chain, first temperatures 1, 2, …, L; the first quarter is left "
    "out.",
)
LEVELS = {"twenty_peaks": 5, "twenty_cylinders": 7, "bridge": 9, "two_modes": 9}


def prepare(task: Task, _density: Density) -> Sampler:
    """The paper's number of levels for its own examples, and the bridge's for the pair of modes."""
    import numpy as np

    import temperance as tp
    from peers.ours import sampler

    temperatures = np.arange(1.0, LEVELS[task.key] + 1.0)
    settings = tp.paper_settings(trim=False)
    return sampler(task, tune_share=0.25, chains=1, temperatures=temperatures, settings=settings)
