"""Everything a run says about itself in numbers, as tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.results import diagnostics, measure
from temperance.results.diagnostics.acceptance import mean_of_known
from temperance.results.diagnostics.barrier import PAPER_ACCEPTANCE, SWEEP_ACCEPTANCE
from temperance.results.modes import Modes, given_modes
from temperance.results.table import Table
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

MAX_COORDINATES = 3  # of a point that are shown


@dataclass(frozen=True)
class Summary:
    """All diagnostics as tables; printed, they are all shown."""

    parameters: Table
    levels: Table  # of every chain
    chains: Table
    pairs: Table  # of levels, over all chains that have both
    modes: Table
    disagreement: float  # the largest distance in total variation between two chains' shares of the modes

    @property
    def _agreement(self) -> str:
        return f"shares of two chains differ by {self.disagreement:.3f} at most"

    def __str__(self) -> str:
        parts = (self.parameters, self.levels, self.chains, self.pairs, self.modes)
        return "\n\n".join([*map(str, parts), self._agreement])

    def _repr_html_(self) -> str:
        """Parameters and modes as tables; the rest is there when it is unfolded."""
        answer = "".join(part._repr_html_() for part in (self.parameters, self.modes) if len(part))
        parts = (part for part in (self.chains, self.levels, self.pairs) if len(part))
        folded = "".join(
            f"<details><summary>{part.title} ({len(part)})</summary>{part.html}</details>" for part in parts
        )
        return f"<div>{answer}<p>{self._agreement}</p>{folded}</div>"


def summarise(result: "Result", modes: Any = None) -> Summary:
    """The summary of a result; ``modes`` as in `Result.occupancy`."""
    found = given_modes(result, modes) if modes is not None and result.draws.size else result.modes
    return Summary(
        parameters=Table("Parameters", shown_estimates(result)),
        levels=Table("Levels", _levels(result)),
        chains=Table("Chains", _chains(result)),
        pairs=Table("Pairs of levels", _pairs(result)),
        modes=Table("Modes", {**mode_columns(found), **_shares(result, found)}),
        disagreement=diagnostics.disagreement(found.share) if len(found) else 0.0,
    )


def shown_estimates(result: "Result") -> dict[str, list[Any]]:
    """Of the parameters, and of what was derived from them."""
    derived = result.derived_estimates
    return {name: [*column, *derived[name]] for name, column in result.estimates.items()}


def _levels(result: "Result") -> dict[str, list[Any]]:
    parts = [
        _levels_of(index, chain, result.setup.unimodal_scale) for index, chain in enumerate(result.chains)
    ]
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def _levels_of(index: int, chain: ChainRecord, threshold: float) -> dict[str, list[Any]]:
    n_levels = len(chain.beta)
    edges = np.append(measure.edge_acceptance(chain), np.nan)
    columns = {
        "temperature": measure.temperatures(chain.beta),
        "beta": chain.beta,
        "walk_acceptance": measure.walk_acceptance(chain),
        "edge_acceptance": edges,
        "scale": np.exp(chain.log_scale),
        "scale_over_threshold": diagnostics.unimodality(chain.log_scale, threshold),
        "local_barrier": diagnostics.local_barrier(measure.log_densities(chain)),
        "flow": diagnostics.flow(measure.replicas(chain)),
    }
    return {
        "chain": [index + 1] * n_levels,
        "level": list(range(1, n_levels + 1)),
        **{name: [float(value) for value in values] for name, values in columns.items()},
    }


def _chains(result: "Result") -> dict[str, list[Any]]:
    rows = [_chain_row(chain) for chain in result.chains]
    return {
        "chain": list(range(1, len(rows) + 1)),
        "draws": [chain.n_draws for chain in result.chains],
        "levels": result.n_levels,
        "hottest_temperature": [float(ladder[-1]) for ladder in result.temperatures],
        "round_trips": result.round_trips if result.keeps_statistics else ["-" for _ in rows],
        **{name: [row[name] for row in rows] for name in rows[0]},
    }


def _chain_row(chain: ChainRecord) -> dict[str, Any]:
    """Swaps, the barrier with the edges that it asks for, and jumps."""
    trace = chain.sampling
    total = diagnostics.barrier(measure.edge_acceptance(chain))
    known = np.isfinite(total)
    return {
        "swap_acceptance": _swap_acceptance(chain),
        "base_swaps": measure.base_swaps(chain),
        "barrier": total,
        f"edges at {PAPER_ACCEPTANCE}": diagnostics.edges_needed(total) if known else "-",
        f"edges at {SWEEP_ACCEPTANCE}": (diagnostics.edges_needed(total, SWEEP_ACCEPTANCE) if known else "-"),
        "jump_share": mean_of_known((trace.jump >= 0).astype(np.float64)),
        "jump_acceptance": measure.jump_acceptance(chain),
        "evaluations": int(chain.tuning.evaluations.sum() + trace.evaluations.sum())
        if measure.keeps_statistics(chain)
        else "-",
        "bad_density": chain.n_bad_density,
    }


def _swap_acceptance(chain: ChainRecord) -> float:
    """Accepted swaps of all attempts; NaN where they were not kept."""
    if not measure.keeps_statistics(chain):
        return float("nan")
    return float(chain.sampling.swap_accepted.sum() / max(int(chain.sampling.swap_attempts.sum()), 1))


def _pairs(result: "Result") -> dict[str, list[Any]]:
    """How often pairs of levels would swap, and how often replicas moved between them."""
    drawn = [chain for chain in result.chains if np.any(measure.active(chain))]
    n_levels = max((len(chain.beta) for chain in drawn), default=0)
    places = [(i, j) for i in range(n_levels) for j in range(i + 1, n_levels)]
    columns: dict[str, list[Any]] = {
        "level": [i + 1 for i, _ in places],
        "other_level": [j + 1 for _, j in places],
    }
    accepted = [
        diagnostics.pair_acceptance(measure.log_densities(chain), measure.betas(chain)) for chain in drawn
    ]
    moved = [_both_ways(diagnostics.moves(measure.replicas(chain))) for chain in drawn]
    for name, matrices in (("swap_acceptance", accepted), ("moved", moved)):
        columns[name] = [_mean_of_cell(matrices, i, j) for i, j in places]
    return columns


def _both_ways(rates: FloatArray) -> FloatArray:
    both: FloatArray = (rates + rates.T) / 2.0
    return both


def _mean_of_cell(matrices: list[FloatArray], i: int, j: int) -> float:
    return mean_of_known(np.array([matrix[i, j] for matrix in matrices if len(matrix) > j]))


def mode_columns(modes: Modes) -> dict[str, list[Any]]:
    """What there is to say about each mode, over all chains."""
    return {
        "mode": list(range(1, len(modes) + 1)),
        "centre": [_short(point) for point in modes.centre],
        "width": [_short(point) for point in modes.width],
        "weight": modes.weight.tolist(),
        "weight_error": modes.weight_error.tolist(),
        "by": [modes.by] * len(modes),
        "visits": modes.visits.sum(axis=0).tolist(),
        "chains": np.count_nonzero(modes.share > 0.0, axis=0).tolist(),
        "learnt_by": np.count_nonzero(modes.learnt, axis=0).tolist(),
        "jump_acceptance": modes.jump_acceptance.tolist(),
    }


def _shares(result: "Result", modes: Modes) -> dict[str, list[Any]]:
    rows = zip(result.kept_numbers, modes.share, strict=True)
    return {f"chain_{number + 1}_share": row.tolist() for number, row in rows}


def _short(point: FloatArray) -> str:
    """The first coordinates."""
    more = ", ..." if len(point) > MAX_COORDINATES else ""
    return ", ".join(f"{value:.3g}" for value in point[:MAX_COORDINATES]) + more
