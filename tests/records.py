"""Results made by hand: what a run would leave, with nothing wrong but what a test puts in."""

from dataclasses import replace

import numpy as np

import temperance as tp
from temperance.core.state import Trace
from temperance.modes.learnt import LearntModes
from temperance.runs.record import ChainRecord, RunSetup

THRESHOLD = 2.26
ACCEPTANCE = 0.234


def wandering_replicas(rng, n_rows, n_levels, first=None):
    """Neighbours that exchange places all the time."""
    current = list(range(n_levels) if first is None else first)
    edges = [range(row % 2, n_levels - 1, 2) for row in range(n_rows)]
    uniforms = iter(rng.random(sum(len(row) for row in edges)).tolist())
    rows = np.empty((n_rows, n_levels), dtype=np.int16)
    for row in range(n_rows):
        for edge in edges[row]:
            if next(uniforms) < 0.5:
                current[edge : edge + 2] = current[edge + 1], current[edge]
        rows[row] = current
    return rows


def make_trace(rng, n_rows, beta, dim, *, adapting, keep_levels):
    n_levels = len(beta)
    levels = rng.standard_normal((n_rows, n_levels, dim)) / np.sqrt(np.maximum(beta, 1e-2))[:, None]
    history = (n_rows if adapting else 0, n_levels)
    return Trace(
        draws=levels[:, 0].copy(),
        level_draws=levels if keep_levels else np.empty((0, n_levels, dim)),
        log_density=-0.5 * (levels**2).sum(axis=2),
        log_prior=np.zeros(n_rows),
        base_accept_prob=np.full(n_rows, ACCEPTANCE, dtype=np.float32),
        walk_accept_prob=np.full((n_rows, n_levels), ACCEPTANCE, dtype=np.float32),
        jump=np.full(n_rows, -1, dtype=np.int16),
        proposal=np.empty((0, dim)),  # made up draws have none that would be true
        proposal_log_density=np.empty(0),
        evaluations=np.full(n_rows, n_levels, dtype=np.int32),
        n_moved=np.full(n_rows, n_levels, dtype=np.int16),
        adjacent_swap_accept=np.full((n_rows, n_levels), ACCEPTANCE, dtype=np.float32),
        swap_attempts=np.ones(n_rows, dtype=np.int32),
        swap_accepted=np.ones(n_rows, dtype=np.int32),
        base_swaps=np.ones(n_rows, dtype=np.int32),
        n_levels=np.full(n_rows, n_levels, dtype=np.int16),
        replica=wandering_replicas(rng, n_rows, n_levels),
        beta=np.broadcast_to(beta, history).copy(),
        log_scale=np.full(history, np.log(THRESHOLD)),
    )


def make_chain(rng, *, n_draws=1_000, n_tune=400, n_levels=4, dim=2, keep_levels=True):
    beta = 8.0 ** -np.arange(n_levels)
    return ChainRecord(
        tuning=make_trace(rng, n_tune, beta, dim, adapting=True, keep_levels=False),
        sampling=make_trace(rng, n_draws, beta, dim, adapting=False, keep_levels=keep_levels),
        beta=beta,
        log_scale=np.full(n_levels, np.log(1.05 * THRESHOLD)),
        mean=np.zeros((n_levels, dim)),
        covariance=np.tile(np.eye(dim), (n_levels, 1, 1)),
        n_bad_density=0,
        bound_hits=np.zeros(3, dtype=np.int64),
        complete=True,
    )


def make_result(rng, *, n_chains=4, **options):
    """A run without a fault: independent draws, a ladder that positions climb up and down."""
    chains = tuple(make_chain(rng, **options) for _ in range(n_chains))
    setup = RunSetup(
        draws=chains[0].n_draws,
        adapts_always=False,
        walk_acceptance=ACCEPTANCE,
        swap_acceptance=ACCEPTANCE,
        unimodal_scale=THRESHOLD,
        min_levels=2,
        settings={
            "swaps": "made up",
            "bounds": {name: [1e-4, 1e9] for name in BOUNDS},
            "trimming": {"rule": "all_hotter"},
        },
        versions={"temperance": "0", "python": "0"},
    )
    return tp.Result(
        chains=chains,
        n_levels_at_start=len(chains[0].beta),
        n_tune=len(chains[0].tuning.draws),
        swap_strategy="made up",
        seed=1,
        complete=True,
        setup=setup,
    )


BOUNDS = ("temperature_gap", "scale", "variance")


def learnt_modes(centres, *, width=1.0, chance=0.9, rest_every=1, n_scouts=3):
    """Round components of equal weight, and the broad one, which belongs to no mode."""
    centres = np.atleast_2d(np.asarray(centres, dtype=np.float64))
    n_modes, dim = centres.shape
    broad = np.cov(centres.T).reshape(dim, dim) + 9.0 * np.eye(dim) if n_modes > 1 else 9.0 * np.eye(dim)
    return LearntModes(
        weight=np.append(np.full(n_modes, 0.95 / n_modes), 0.05),
        centre=np.concatenate([centres, centres.mean(axis=0, keepdims=True)]),
        covariance=np.concatenate([np.tile(width**2 * np.eye(dim), (n_modes, 1, 1)), broad[None]]),
        chance=chance,
        efficiency=chance,
        rest_every=rest_every,
        n_scouts=n_scouts,
        told_at=np.full(n_modes + 1, np.nan),
        seen=np.full(n_modes + 1, np.nan),
    )


def jumping(chain, modes, *, accepted=0.8, tried=0.9):
    """The same chain, had it learnt these modes and jumped among them while hot levels rest.

    What it proposed was not kept: points that fit these modes are made in `bridges`.
    """
    n_draws = chain.n_draws
    jumps = np.arange(n_draws) % 100 < 100 * tried
    rests = np.arange(n_draws) % modes.rest_every != 0
    component = np.where(jumps, np.arange(n_draws) % len(modes.weight), -1).astype(np.int16)
    columns = {name: getattr(chain.sampling, name).copy() for name in RESTING}
    columns["base_accept_prob"][jumps] = accepted
    columns["walk_accept_prob"][jumps, 0] = np.nan
    columns["walk_accept_prob"][rests, 1:] = np.nan
    columns["adjacent_swap_accept"][rests] = np.nan
    awake = np.arange(n_draws) // modes.rest_every * modes.rest_every  # the row that a resting one repeats
    for name in ("log_density", "replica"):
        columns[name][:, 1:] = columns[name][awake, 1:]
    columns["replica"][:, 0] = columns["replica"][awake, 0]
    for name in ("swap_attempts", "swap_accepted", "base_swaps"):
        columns[name][rests] = 0
    columns["evaluations"][rests] = columns["n_moved"][rests] = 1
    columns |= {name: getattr(chain.sampling, name)[:0] for name in ("proposal", "proposal_log_density")}
    recorded = with_sampling(chain, jump=component, **columns)
    return replace(recorded, modes=modes)


RESTING = (
    "base_accept_prob",
    "walk_accept_prob",
    "adjacent_swap_accept",
    "log_density",
    "replica",
    "swap_attempts",
    "swap_accepted",
    "base_swaps",
    "evaluations",
    "n_moved",
)


def with_chains(result, change):
    """The same result with each chain changed by ``change(index, chain)``."""
    return replace(result, chains=tuple(change(k, chain) for k, chain in enumerate(result.chains)))


def with_sampling(chain, **columns):
    return replace(chain, sampling=chain.sampling._replace(**columns))


def with_draws(result, draws):
    """The same result with other draws of the base level, (chain, draw, dim)."""
    return with_chains(result, lambda k, chain: with_sampling(chain, draws=draws[k]))
