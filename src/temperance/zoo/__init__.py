"""Targets with known answers."""

from temperance.zoo import bridge, gaussians, peaks

__all__ = ["bridge", "gaussians", "peaks"]
