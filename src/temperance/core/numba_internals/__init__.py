"""All that the package takes from numba without numba's promise: the only rooms to look at when it changes.

Other modules use what its manual promises (`numba.njit`, `numba.types`, `numba.extending`) and what is here.
`tests/test_layers.py` sees to that, and `tests/test_versions.py` tries the lowest and the newest numba.
"""
