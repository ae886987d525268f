"""Other samplers beside ours: the same log densities, equal numbers of evaluations, one contract.

``make bench-peers`` runs `peers` as a program; its results are files in docs/peers/results, from which
``make docs`` makes docs/peers.md.
"""
