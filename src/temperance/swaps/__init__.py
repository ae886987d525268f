"""Swap strategies: which pairs of levels to exchange, and how many."""

from temperance.swaps.blind import adjacent, uniform
from temperance.swaps.check import Verdict, check
from temperance.swaps.custom import custom
from temperance.swaps.energy import equi_energy
from temperance.swaps.formulas import big_jumps, cold_energy, scaled_energy, uphill
from temperance.swaps.rings import energy_rings
from temperance.swaps.strategy import Strategy
from temperance.swaps.sweeps import even_odd, heat_bath, stochastic_even_odd

__all__ = [
    "Strategy",
    "Verdict",
    "adjacent",
    "big_jumps",
    "check",
    "cold_energy",
    "custom",
    "energy_rings",
    "equi_energy",
    "even_odd",
    "heat_bath",
    "scaled_energy",
    "stochastic_even_odd",
    "uniform",
    "uphill",
]
