"""Targets with known answers."""

from temperance.zoo import peaks

__all__ = ["peaks"]
