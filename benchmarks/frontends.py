"""What an evaluation costs through each front-end, beside the bare call of the same model.

The model is that of tests/mixture.py: two normals, 130 data, 5 parameters. *Bare* is the library's own
compiled function, called in a loop of its own language: of numba, C and Stan from a compiled loop, of PyMC
its whole log density from a compiled loop, of JAX a batch of 8 points from Python. *Ours* is a run of eight
levels, its time divided by its evaluations: walks, swaps and all else are in it. Libraries that are not
installed are left out, and so is Stan unless a library of tests/stan/mixture.stan is given, with BridgeStan's
interface.

    python benchmarks/frontends.py [mixture.so]
"""

import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import temperance as tp

DATA = np.random.default_rng(0).normal(np.repeat([-2.0, 2.0], 65), 1.0)
START = np.array([0.1, -1.0, 1.0, 0.1, 0.2])
N_BARE, N_DRAWS, N_LEVELS, TIMES = 100_000, 20_000, 8, 7
LADDER = np.linspace(1.0, 1.5, N_LEVELS)  # close to the posterior, where the bare calls are
Calls = Callable[[], int]  # how many evaluations it made


@numba.njit
def density(x, data):
    """The log density in unconstrained coordinates, up to constants."""
    share = 1 / (1 + math.exp(-x[0]))
    one, two = math.exp(x[3]), math.exp(x[4])
    total = math.log(share * (1 - share)) + x[3] + x[4] - (x[1] ** 2 + x[2] ** 2) / 18 - (one**2 + two**2) / 8
    for y in data:
        left = share / one * math.exp(-0.5 * ((y - x[1]) / one) ** 2)
        right = (1 - share) / two * math.exp(-0.5 * ((y - x[2]) / two) ** 2)
        total += math.log(left + right)
    return total


def best(*calls: Calls) -> list[float]:
    """Microseconds for an evaluation, each at its fastest; in turn, on the same machine.

    Of the processor, not of the clock: others may want it, too.
    """
    fastest = [math.inf] * len(calls)
    for _ in range(TIMES):
        for k, call in enumerate(calls):
            begun = time.process_time()
            evaluations = call()
            fastest[k] = min(fastest[k], 1e6 * (time.process_time() - begun) / evaluations)
    return fastest


def ours(model: Any, **options: Any) -> Calls:
    """A whole run, without anything else that evaluates."""
    settings = tp.Settings(jumps=tp.Jumps(enabled=False), trimming=tp.Trimming(enabled=False))
    asked = {"draws": N_DRAWS, "tune": 0, "chains": 1, "temperatures": LADDER, "seed": 1, "progress": False}

    def run() -> int:
        result = tp.sample(model, **asked, settings=settings, **options)
        return int(result.chains[0].sampling.evaluations.sum())

    run()
    return run


def looped(function: Any, *arguments: Any) -> Calls:
    """Calls from a compiled loop."""

    @numba.njit
    def loop(x, n, arguments):
        total = 0.0
        for i in range(n):
            x[1] = -1.0 + 1e-6 * i
            total += function(x, *arguments)
        return total

    def run() -> int:
        loop(START.copy(), N_BARE, arguments)
        return N_BARE

    run()
    return run


def of_numba() -> tuple[Calls, Calls]:
    """A compiled function with data."""
    return looped(density, DATA), ours(density, data=DATA, initial=START)


def of_cfunc() -> tuple[Calls, Calls]:
    """The same behind an address."""
    data = DATA.copy()

    @numba.cfunc("float64(CPointer(float64))")
    def by_address(x):
        return density(numba.carray(x, 5), data)

    pointer = by_address.ctypes
    bare = looped(numba.njit(lambda x: pointer(x.ctypes)))
    return bare, ours(by_address, initial=START)


def of_pymc() -> tuple[Calls, Calls]:
    """A model of PyMC, prior and likelihood apart in ours."""
    import pymc as pm

    from temperance.models.frontends.pymc import translated

    with pm.Model() as model:
        share, place = pm.Uniform("share", 0, 1), pm.Normal("place", 0, 3, shape=2)
        scale = pm.HalfNormal("scale", 2, shape=2)
        pm.NormalMixture("y", w=pm.math.stack([share, 1 - share]), mu=place, sigma=scale, observed=DATA)
    inner = pm.compile(
        [
            (
                joined := pm.pytensorf.join_nonshared_inputs(
                    model.initial_point(), [model.logp()], model.value_vars
                )
            )[1]
        ],
        joined[0][0],
        mode="NUMBA",
    ).vm.jit_fn
    bare = looped(numba.njit(lambda x: inner(x)[0][()]))
    translated(model)
    return bare, ours(model)


def of_stan() -> tuple[Calls, Calls]:
    """A model of Stan by its address, with all constants."""
    import bridgestan

    from temperance.models.frontends import stan

    data = json.dumps({"n": len(DATA), "y": DATA.tolist()})
    model = bridgestan.StanModel(sys.argv[1], data, warn=False)
    inner = stan._density(
        "bare", *map(stan._address, (model.stanlib.bs_log_density, model.stanlib.bs_free_error_msg))
    )
    address = (np.array([model.model], dtype=np.int64),)
    return looped(inner, address), ours(model)


def of_jax() -> tuple[Calls, Calls]:
    """A function of JAX, for eight points at once."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    data = jnp.asarray(DATA)

    @jax.jit
    def whole(x):
        share, scale = jax.nn.sigmoid(x[0]), jnp.exp(x[3:5])
        each = jnp.stack([share, 1 - share]) / scale * jnp.exp(-0.5 * ((data[:, None] - x[1:3]) / scale) ** 2)
        prior = jnp.log(share * (1 - share)) + x[3] + x[4] - jnp.sum(x[1:3] ** 2) / 18 - jnp.sum(scale**2) / 8
        return prior + jnp.sum(jnp.log(each.sum(axis=1)))

    many, rows = jax.jit(jax.vmap(whole)), np.tile(START, (N_LEVELS, 1))

    def bare() -> int:
        for _ in range(N_BARE // N_LEVELS):
            np.asarray(many(rows))
        return N_BARE

    return bare, ours(whole, initial=START)


WAYS = {
    "numba": ("", of_numba),
    "C (a cfunc)": ("", of_cfunc),
    "PyMC": ("pymc", of_pymc),
    "JAX": ("jax", of_jax),
    "Stan": ("bridgestan", of_stan),
}


def main() -> None:
    """Print the table."""
    print("| model | bare, us | ours, us | ratio |\n|---|---|---|---|")
    for name, (library, measure) in WAYS.items():
        if library and importlib.util.find_spec(library) is None:
            continue
        if name == "Stan" and len(sys.argv) < 2:
            continue
        bare, through = best(*measure())
        print(f"| {name} | {bare:.2f} | {through:.2f} | {through / bare:.2f} |", flush=True)
    print(f"\nPython {sys.version.split()[0]}, numba {numba.__version__}, NumPy {np.__version__}, seed 1")


if __name__ == "__main__":
    main()
