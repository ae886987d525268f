"""Diagnostics as plain functions of arrays: of one quantity, of the ladder, of the modes."""

from temperance.results.diagnostics.acceptance import pair_acceptance
from temperance.results.diagnostics.barrier import barrier, edges_needed, integrated_barrier, local_barrier
from temperance.results.diagnostics.ess import ess_bulk, ess_mean, ess_tail, smallest_ess
from temperance.results.diagnostics.mcse import mcse_mean, mcse_sd
from temperance.results.diagnostics.modes import find_modes, nearest_mode
from temperance.results.diagnostics.occupancy import disagreement, occupancy
from temperance.results.diagnostics.r_hat import r_hat
from temperance.results.diagnostics.replicas import crossings, flow, moves, replica_places, round_trips
from temperance.results.diagnostics.scale import first_unimodal, unimodality

__all__ = [
    "barrier",
    "crossings",
    "disagreement",
    "edges_needed",
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "find_modes",
    "first_unimodal",
    "flow",
    "integrated_barrier",
    "local_barrier",
    "mcse_mean",
    "mcse_sd",
    "moves",
    "nearest_mode",
    "occupancy",
    "pair_acceptance",
    "r_hat",
    "replica_places",
    "round_trips",
    "smallest_ess",
    "unimodality",
]
