"""Targets with known answers."""

from temperance.zoo import bridge, cylinders, gaussians, peaks

__all__ = ["bridge", "cylinders", "gaussians", "peaks"]
