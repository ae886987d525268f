"""The evidence beside nested samplers: value, reported error, evaluations and CPU time, where it is known.

Run with ``make bench-evidence``: makes the runs that docs/weights/evidence.json does not have and writes them
there. All have a box as their prior, or a normal one, and are left to themselves: our defaults, dynesty's and
nautilus's own ends. Peers run in their own environments, made by `peers.environments`.
"""

import datetime
import json
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import numba
import numpy as np

ROWS = Path(__file__).parent.parent / "docs" / "weights" / "evidence.json"
FIRST_SEED = 800_001
RUNS = {"temperance": 20, "dynesty": 3, "nautilus": 3}
N_DATA, NOISE_SD, PRIOR_SD = 40, 1.0, 2.0


@dataclass(frozen=True)
class Case:
    """A log likelihood, its prior as a map from the unit cube, the same for us, and the log evidence."""

    dim: int
    log_likelihood: Callable[[Any], float]
    from_unit: Callable[[Any], Any]
    prior: Any
    truth: float


def boxed(problem: Any, low: Any, high: Any, *, has_prior: bool = False) -> Case:
    """A problem of the zoo in a box that holds all of its mass."""
    import temperance as tp

    low, high = (
        np.broadcast_to(low, problem.dim).astype(float),
        np.broadcast_to(high, problem.dim).astype(float),
    )
    log_volume = float(np.log(high - low).sum())
    density, data = problem.log_density, problem.data

    @numba.njit
    def alone(x):
        return density(x) + (log_volume if has_prior else 0.0)

    @numba.njit
    def with_data(x):
        return density(x, data)

    return Case(
        dim=problem.dim,
        log_likelihood=alone if data is None else with_data,
        from_unit=lambda unit: low + unit * (high - low),
        prior=tp.priors.uniform(low, high, shape=problem.dim),
        truth=problem.log_normaliser - (0.0 if has_prior else log_volume),
    )


def regression(n_coefficients: int = 4) -> Case:
    """Normal noise and normal priors, whose evidence is a normal density of the data."""
    import temperance as tp

    generator = np.random.default_rng(5)
    design = generator.standard_normal((N_DATA, n_coefficients))
    answers = design @ generator.normal(0.0, PRIOR_SD, n_coefficients) + generator.normal(size=N_DATA)
    covariance = NOISE_SD**2 * np.eye(N_DATA) + PRIOR_SD**2 * design @ design.T
    half_log_det = np.log(np.diag(np.linalg.cholesky(covariance))).sum()
    square = answers @ np.linalg.solve(covariance, answers)
    truth = -0.5 * square - half_log_det - 0.5 * N_DATA * math.log(2.0 * math.pi)

    @numba.njit
    def log_likelihood(x):
        total = -0.5 * N_DATA * math.log(2.0 * math.pi)
        for i in range(N_DATA):
            mean = 0.0
            for k in range(n_coefficients):
                mean += design[i, k] * x[k]
            total -= 0.5 * (answers[i] - mean) ** 2
        return total

    from statistics import NormalDist

    quantile = np.vectorize(NormalDist(0.0, PRIOR_SD).inv_cdf)
    return Case(
        dim=n_coefficients,
        log_likelihood=log_likelihood,
        from_unit=lambda unit: quantile(np.clip(unit, 1e-15, 1.0 - 1e-15)),
        prior=tp.priors.normal(0.0, PRIOR_SD, shape=n_coefficients),
        truth=float(truth),
    )


def cases() -> dict[str, Callable[[], Case]]:
    """Every problem by its name."""
    from temperance import zoo

    cylinders = np.append(np.full(2, -0.5), np.full(6, -6.0)), np.append(np.full(2, 10.5), np.full(6, 6.0))
    return {
        "one Gaussian, 10-d, box": lambda: boxed(zoo.gaussian(10), -40.0, 40.0),
        "twenty peaks, box": lambda: boxed(zoo.twenty_peaks(), -0.5, 10.5),
        "twenty cylinders, 8-d, box": lambda: boxed(zoo.twenty_cylinders(), *cylinders),
        "regression, 4 coefficients": regression,
        "shells, 2-d": lambda: boxed(zoo.gaussian_shells(2), -6.0, 6.0, has_prior=True),
        "shells, 5-d": lambda: boxed(zoo.gaussian_shells(5), -6.0, 6.0, has_prior=True),
        "shells, 10-d": lambda: boxed(zoo.gaussian_shells(10), -6.0, 6.0, has_prior=True),
    }


@lru_cache
def case_of(name: str) -> Case:
    """One of them."""
    return cases()[name]()


def by_temperance(case: Case, seed: int) -> dict[str, Any]:
    """Nothing is set."""
    import temperance as tp

    model = tp.Model(case.log_likelihood, parameters={"x": case.prior}, vector=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tp.sample(model, seed=seed, cores=1, progress=False)
    evaluations = sum(
        int(trace.evaluations.sum()) for chain in result.chains for trace in (chain.tuning, chain.sampling)
    )
    spent = {"evaluations": evaluations, "serious": [one.name for one in result.warnings if one.serious]}
    try:
        found = result.log_evidence()
    except tp.InvalidInputError as error:
        return {"value": None, "error": None, "by": str(error), "others": {}, "agree": None, **spent}
    others = {way: list(pair) for way, pair in found.others.items()}
    return {
        "value": found.value, "error": found.error, "by": found.by, "others": others, "agree": found.agree,
        **spent,
    }  # fmt: skip


def by_dynesty(case: Case, seed: int) -> dict[str, Any]:
    """Static, 500 live points, its own end."""
    import dynesty

    sampler: Any = dynesty.NestedSampler(
        lambda x: case.log_likelihood(x),
        case.from_unit,
        case.dim,
        nlive=500,
        rstate=np.random.default_rng(seed),
    )
    sampler.run_nested(print_progress=False)
    results = sampler.results
    return {
        "value": float(results.logz[-1]),
        "error": float(results.logzerr[-1]),
        "evaluations": int(np.sum(results.ncall)),
    }


def by_nautilus(case: Case, seed: int) -> dict[str, Any]:
    """1,000 live points and one network, its own end; its error is that of its effective size."""
    import nautilus

    sampler: Any = nautilus.Sampler(
        case.from_unit, lambda x: case.log_likelihood(np.ascontiguousarray(x)), n_dim=case.dim,
        pass_dict=False, n_live=1000, n_networks=1, seed=seed,
    )  # fmt: skip
    sampler.run(verbose=False)
    return {
        "value": float(sampler.log_z),
        "error": float(1.0 / math.sqrt(sampler.n_eff)),
        "evaluations": int(sampler.n_like),
    }


PACKAGES = {"dynesty": "dynesty", "nautilus": "nautilus-sampler"}
WAYS = {"temperance": by_temperance, "dynesty": by_dynesty, "nautilus": by_nautilus}


def row_of(name: str, peer: str, seed: int) -> dict[str, Any]:
    """One run."""
    case = case_of(name)
    case.log_likelihood(case.from_unit(np.full(case.dim, 0.5)))  # compiles
    began = time.process_time()
    row = WAYS[peer](case, seed)
    spent = time.process_time() - began
    return {"seed": seed, "truth": case.truth, "cpu_seconds": spent, "version": version_of(peer), **row}


def version_of(peer: str) -> str:
    """Of the package that made a run."""
    from temperance import __version__

    return __version__ if peer == "temperance" else version(PACKAGES[peer])


@click.command()
@click.option("--problem", "names", multiple=True, help="Only these.")
@click.option("--peer", "peers", multiple=True, type=click.Choice(list(WAYS)), help="Only these.")
@click.option("--anew", is_flag=True, help="Forget what is chosen first.")
@click.option("--worker", hidden=True, nargs=3, type=(str, str, int), help="One run, printed.")
def main(names: tuple[str, ...], peers: tuple[str, ...], anew: bool, worker: Any) -> None:
    """Make the runs that are missing."""
    if worker:
        click.echo(json.dumps(row_of(*worker)))
        return
    from peers.contract import load_adapter
    from peers.environments import interpreter, variables

    known = json.loads(ROWS.read_text()) if ROWS.exists() else {}
    for name in names or cases():
        for peer in peers or WAYS:
            key = f"{name} | {peer}"
            rows = [] if anew else known.get(key, {}).get("rows", [])
            for seed in range(FIRST_SEED + len(rows), FIRST_SEED + RUNS[peer]):
                python = interpreter(peer, load_adapter(peer).PEER)
                command = [python, __file__, "--worker", name, peer, str(seed)]
                ended = subprocess.run(command, env=variables(), check=True, capture_output=True, text=True)
                rows.append(json.loads(ended.stdout.splitlines()[-1]))
                known[key] = {"date": str(datetime.date.today()), "rows": rows}
                ROWS.parent.mkdir(parents=True, exist_ok=True)
                ROWS.write_text(json.dumps(known, indent=1) + "\n")
                click.echo(f"{key}: {rows[-1]}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
