"""One file for each peer; the contract is in `peers.contract`.

An adapter imports its peer inside functions, because the runner reads ``PEER`` where the peer is not
installed.
"""
