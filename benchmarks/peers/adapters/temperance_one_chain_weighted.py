"""Our sampler with its defaults but one chain, judged by its weighted sample."""

from peers.adapters.temperance_one_chain import prepare
from peers.contract import ONE_POINT, Peer

__all__ = ["PEER", "prepare"]

PEER = Peer(
    title="temperance, one chain, weighted",
    kind="tempering",
    start=ONE_POINT,
    notes="The same runs as those of one chain, by `result.weighted`: draws and jump proposals "
    "together. The time of the weights is in its CPU time.",
)
