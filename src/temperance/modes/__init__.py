"""Modes learnt from states: linking them into clusters, fitting a mixture, and what it is worth."""
