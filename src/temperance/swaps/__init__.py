"""Swap strategies: which pair of levels to exchange."""

from temperance.swaps.blind import adjacent, uniform
from temperance.swaps.energy import equi_energy
from temperance.swaps.strategy import Strategy

__all__ = ["Strategy", "adjacent", "equi_energy", "uniform"]
