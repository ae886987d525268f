"""Łącki & Miasojedow's experiments, run anew and compared with what they printed."""

from temperance.paper.reproduce import ITEMS, Reproduction, reproduce

__all__ = ["ITEMS", "Reproduction", "reproduce"]
