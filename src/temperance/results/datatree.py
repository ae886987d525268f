"""A result in the layout of ArviZ, for ArviZ 0.23 and 1.x alike: plain xarray, no converter of theirs.

A chain is an independent run and never a temperature: nothing that ArviZ computes over chains mixes levels.
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from temperance.core.state import FloatArray, ProbArray, Trace
from temperance.errors import InvalidInputError
from temperance.extras import needed
from temperance.parameters import Parameters
from temperance.runs.record import ChainRecord

if TYPE_CHECKING:
    from temperance.results.result import Result

SAMPLE = ("chain", "draw")
BY_LEVEL = (*SAMPLE, "level")
BY_EDGE = (*SAMPLE, "edge")
WEIGHTED = ("weighted_draw",)  # of draws and jump proposals together
UNCONSTRAINED = "unconstrained_posterior"  # the coordinates of a model that shows its parameters
FIRST_OF_NEW_ARVIZ = 1
ABOUT_MODES = "the mode of each draw, counted from 0: what tables and plots call mode 1 is 0 here"
Variables = dict[str, tuple[tuple[str, ...], np.ndarray[Any, Any]]]


def to_arviz(result: "Result", *, warmup: bool, levels: bool) -> Any:
    """What ``az.summary`` and its like take."""
    needed("this needs", "arviz")
    return for_arviz(to_datatree(result, warmup=warmup, levels=levels))


def for_arviz(tree: Any) -> Any:
    """A tree as the ArviZ that is installed wants it."""
    arviz = needed("this needs", "arviz")[0]
    old = int(arviz.__version__.split(".")[0]) < FIRST_OF_NEW_ARVIZ
    return arviz.InferenceData.from_datatree(tree) if old else tree


def to_datatree(result: "Result", *, warmup: bool, levels: bool) -> Any:
    """The groups posterior and sample_stats, the same of the weighted sample, and others on request."""
    xarray = needed("this needs", "xarray")[0]
    groups = _phase(result, "sampling")
    groups["posterior"] |= _in_terms_of_the_model(result)
    if result.draws.size:
        groups["sample_stats"]["mode"] = (SAMPLE, result.modes.label)
    if warmup:
        tuning = _phase(result, "tuning")
        groups |= {f"warmup_{name}": variables for name, variables in tuning.items() if variables}
    if levels:
        groups["tempered_posterior"] = _named(result.parameters, BY_LEVEL, result.level_points)
    if result.weighting.bridge is not None:
        groups |= _weighted(result)
    attributes = _attributes(result)
    tree = xarray.DataTree.from_dict(
        {
            name: xarray.Dataset(variables, coords=_coordinates(result, variables), attrs=attributes)
            for name, variables in groups.items()
        }
    )
    if result.draws.size:
        tree["sample_stats"]["mode"].attrs["description"] = ABOUT_MODES
    return tree


def _phase(result: "Result", phase: Literal["tuning", "sampling"]) -> dict[str, Variables]:
    """The base level of one phase and its statistics, all chains cut to the shortest."""
    traces = [getattr(chain, phase) for chain in result.kept]
    length = min(len(trace.draws) for trace in traces)
    cut = [Trace._make(column[:length] for column in trace) for trace in traces]
    points = np.stack([trace.draws for trace in cut])
    sampled = _named(result.coordinates, SAMPLE, points)
    of_model = result.value_names is not None
    return {
        "posterior": {} if of_model else sampled,
        **({UNCONSTRAINED: sampled} if of_model else {}),
        "sample_stats": _statistics(list(zip(result.kept, cut, strict=True))),
    }


def _named(names: Parameters, sample_dims: tuple[str, ...], points: FloatArray) -> Variables:
    """What is named, each with its own dimensions."""
    return {
        name: ((*sample_dims, *names.dims_of(name)), values) for name, values in names.split(points).items()
    }


def _in_terms_of_the_model(result: "Result") -> Variables:
    """What the model's ``constrain`` made of the draws; a value that a coordinate is has its dimensions."""
    made = result.values if result.kept[0].values else {}
    return _by_name(result.parameters, SAMPLE, made)


def _by_name(names: Parameters, sample_dims: tuple[str, ...], columns: Mapping[str, FloatArray]) -> Variables:
    """Values by name with the dimensions that the name is known to have, or else numbered ones."""
    variables: Variables = {}
    for name, values in columns.items():
        shape = values.shape[len(sample_dims) :]
        known = names.dims.get(name, ())
        fits = len(known) == len(shape) and names.shapes.get(name, shape) == shape
        dims = known if fits else [f"{name}_dim_{k}" for k in range(len(shape))]
        variables[name] = ((*sample_dims, *dims), values)
    return variables


def _weighted(result: "Result") -> dict[str, Variables]:
    """Draws and jump proposals by name, and their weights apart: a parameter may be called weight, too.

    No chains, since proposals are independent.
    """
    weighted = result.weighted
    about = {"weight": weighted.weights, "lp": weighted.log_density}
    return {
        "weighted_posterior": _by_name(result.parameters, WEIGHTED, weighted.values),
        "weighted_sample_stats": {name: (WEIGHTED, values) for name, values in about.items()},
    }


def _statistics(traces: Sequence[tuple[ChainRecord, Trace]]) -> Variables:
    """What is known of each draw beside its position; no edges where there is one level."""
    columns: dict[str, tuple[tuple[str, ...], list[np.ndarray[Any, Any]]]] = {
        "lp": (SAMPLE, [trace.log_density[:, 0] + trace.log_prior for _, trace in traces]),
        "acceptance_rate": (SAMPLE, [trace.base_accept_prob for _, trace in traces]),
        "jumped": (SAMPLE, [trace.jump >= 0 for _, trace in traces]),
        "jump_accept_prob": (SAMPLE, [_of_jumps(trace) for _, trace in traces]),
        "evaluations": (SAMPLE, [trace.evaluations for _, trace in traces]),
        "n_levels": (SAMPLE, [trace.n_levels for _, trace in traces]),
        "swap_attempts": (SAMPLE, [trace.swap_attempts for _, trace in traces]),
        "swap_accepted": (SAMPLE, [trace.swap_accepted for _, trace in traces]),
        "log_density": (BY_LEVEL, [trace.log_density for _, trace in traces]),
        "accept_prob": (BY_LEVEL, [trace.walk_accept_prob for _, trace in traces]),
        "replica": (BY_LEVEL, [trace.replica for _, trace in traces]),
        "beta": (BY_LEVEL, [_history(trace.beta, chain.beta, trace) for chain, trace in traces]),
        "log_scale": (
            BY_LEVEL,
            [_history(trace.log_scale, chain.log_scale, trace) for chain, trace in traces],
        ),
        "swap_accept_prob": (BY_EDGE, [trace.adjacent_swap_accept[:, :-1] for _, trace in traces]),
    }
    stacked = {name: (dims, np.stack(values)) for name, (dims, values) in columns.items()}
    n_draws = len(traces[0][1].draws)  # a column that was not kept has none
    return {
        name: (dims, values)
        for name, (dims, values) in stacked.items()
        if 0 not in values.shape[2:] and values.shape[1] == n_draws
    }


def _of_jumps(trace: Trace) -> ProbArray:
    """The acceptance of what the base level proposed where that was a jump, else NaN."""
    return np.where(trace.jump >= 0, trace.base_accept_prob, np.float32(np.nan))


def _history(recorded: FloatArray, frozen: FloatArray, trace: Trace) -> FloatArray:
    """As recorded while adapting; else what was frozen, the same in every draw, NaN for levels dropped."""
    if len(recorded) or not len(trace.draws):
        return recorded
    row = np.full(trace.log_density.shape[1], np.nan)
    row[: len(frozen)] = frozen
    return np.broadcast_to(row, trace.log_density.shape)


def _coordinates(result: "Result", variables: Variables) -> dict[str, Any]:
    """One along every dimension: what the user gave, the numbers of the chains kept, or plain numbers."""
    given: dict[str, Any] = {"chain": result.kept_numbers, **result.parameters.coords}
    return {
        dim: list(given.get(dim, range(length)))
        for dims, values in variables.values()
        for dim, length in zip(dims, values.shape, strict=True)
    }


def _attributes(result: "Result") -> dict[str, Any]:
    return {
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(),
        "inference_library": "temperance",
        "inference_library_version": result.setup.versions["temperance"],
        "tuning_steps": result.n_tune,
        "seed": str(result.seed),
        "swap_strategy": result.swap_strategy,
        "settings": json.dumps(result.setup.settings, default=str),
        "verdict": result.verdict,
        "warnings": json.dumps([str(warning) for warning in result.warnings]),
        **_weights(result),
        **_evidence(result),
    }


def _weights(result: "Result") -> dict[str, Any]:
    """The weights of the modes, in the order of their numbers, where there are draws."""
    if not result.draws.size:
        return {}
    modes = result.modes
    return {
        "mode_weight": modes.weight.tolist(),
        "mode_weight_error": modes.weight_error.tolist(),
        "mode_weight_by": modes.by,
    }


def _evidence(result: "Result") -> dict[str, Any]:
    """The log evidence, where it can be told."""
    try:
        found = result.log_evidence()
    except InvalidInputError:
        return {}
    return {
        "log_evidence": found.value,
        "log_evidence_error": found.error,
        "log_evidence_by": found.by,
        "log_evidence_others": json.dumps(dict(found.others)),
        "log_evidence_in_words": str(found),
    }
