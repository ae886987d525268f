"""Our sampler with its defaults, judged by its weighted sample."""

from peers.adapters.temperance import prepare
from peers.contract import ONE_POINT, Peer

__all__ = ["PEER", "prepare"]

PEER = Peer(
    title="temperance, weighted",
    kind="tempering",
    start=ONE_POINT,
    notes="The same runs as temperance's, by `result.weighted`: draws and jump proposals "
    "together. The time of the weights is in its CPU time.",
)
