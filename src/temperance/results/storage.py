"""A result as one .npz file, which NumPy alone can read: arrays, and the rest as JSON."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from temperance.checks import flag
from temperance.core.state import Trace
from temperance.errors import InvalidInputError
from temperance.files import require_writable, whole_file
from temperance.modes.learnt import LearntModes
from temperance.parameters import names_from_plain, names_to_plain
from temperance.runs.record import ChainRecord, RunSetup
from temperance.runs.seeds import seed_from_plain, seed_to_plain

if TYPE_CHECKING:
    from temperance.results.result import Result

FORMAT = 9
SUFFIX = ".npz"
PHASES = ("tuning", "sampling")
ENDS = ("beta", "log_scale", "mean", "covariance")  # one row for each level left
# One row for each component learnt, and so many axes of the dimension.
MODES = {"weight": 0, "centre": 1, "covariance": 2, "told_at": 0, "seen": 0}
LEARNT = ("chance", "efficiency", "rest_every", "n_scouts", "n_broad", "n_climbs", "n_scouts_lost")
NAMES = ("names", "value_names")
FACTS = ("n_levels_at_start", "n_tune", "swap_strategy", "complete", "ended_by")
Arrays = dict[str, Any]


def npz_path(path: Any) -> Path:
    """Where a result goes that is to be saved under this name."""
    given = Path(path)
    return given if given.suffix == SUFFIX else given.with_name(f"{given.name}{SUFFIX}")


def save(result: "Result", path: Any, *, overwrite: bool) -> Path:
    """Write a result; a file of that name is refused, or replaced whole or not at all."""
    target = npz_path(path)
    require_writable(target, overwrite=flag("overwrite", overwrite))
    with whole_file(target) as file:
        np.savez_compressed(file, **_arrays(result))
    return target


def load(path: Any, build: Callable[..., "Result"]) -> "Result":
    """Read what `save` wrote, by ``build(**fields)``."""
    file = _content(path)
    try:
        arrays = _read(file)
        about = json.loads(str(arrays["about"]))
        number, writer = about["format"], about["setup"]["versions"]["temperance"]
        fields = _fields(arrays, about) if number == FORMAT else {}
    except Exception as error:  # whatever a damaged file does to zlib, zipfile, NumPy and us
        raise InvalidInputError(
            f"path: {path} is damaged, or no result saved by temperance: {error!r}"
        ) from error
    if number != FORMAT:
        raise InvalidInputError(
            f"path: {path} has format {number}, this version reads {FORMAT}; "
            f"it was written by temperance {writer}"
        )
    return build(**fields)


def _read(file: bytes) -> Arrays:
    """All arrays of a file. Each is read to its end, since only there its checksum is looked at."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        members = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
    return {name: np.load(io.BytesIO(content), allow_pickle=False) for name, content in members.items()}


def _content(path: Any) -> bytes:
    """All bytes of a file; read apart, since a damaged file can raise an OSError as well."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InvalidInputError(f"path: there is no file {path}") from error
    except OSError as error:
        raise InvalidInputError(f"path: {path} cannot be read: {error.strerror or error}") from error


def _arrays(result: "Result") -> Arrays:
    """``draws`` and ``log_density`` for people, and all traces, padded where chains differ in length."""
    chains = result.chains
    arrays = {
        f"{phase}.{field}": _stack([getattr(getattr(chain, phase), field) for chain in chains])
        for phase in PHASES
        for field in Trace._fields
    }
    arrays["draws"] = arrays.pop("sampling.draws")
    arrays["log_density"] = arrays["sampling.log_density"][:, :, 0] + arrays["sampling.log_prior"]
    arrays |= {name: _stack([getattr(chain, name) for chain in chains]) for name in ENDS}
    arrays |= {f"modes.{name}": _stack([_modes_or_none(chain, name) for chain in chains]) for name in MODES}
    for name in chains[0].values:
        arrays[f"values.{name}"] = _stack([chain.values[name] for chain in chains])
    for name in chains[0].proposal_values:
        arrays[f"proposal_values.{name}"] = _stack([chain.proposal_values[name] for chain in chains])
    levels = [chain.level_points() for chain in chains if chain.level_points is not None]
    if levels:
        arrays["level_points"] = _stack(levels)
    arrays["bound_hits"] = np.array([chain.bound_hits for chain in chains])
    return {**arrays, "about": np.array(json.dumps(_about(result), default=str))}


def _about(result: "Result") -> dict[str, Any]:
    return {
        "format": FORMAT,
        **{name: getattr(result, name) for name in FACTS},
        "seed": seed_to_plain(result.seed),
        "setup": asdict(result.setup),
        **{which: names_to_plain(getattr(result, which)) for which in NAMES},
        "chains": [_chain_facts(chain) for chain in result.chains],
    }


def _chain_facts(chain: ChainRecord) -> dict[str, Any]:
    """What is not an array, and how long the arrays are."""
    rows = {phase: [len(column) for column in getattr(chain, phase)] for phase in PHASES}
    return {
        "n_refused": chain.n_bad_density,
        "setbacks": chain.setbacks,
        "lengthened": chain.lengthened,
        "ladder": chain.ladder,
        "ran_off": chain.ran_off,
        "thin": chain.thin,
        "complete": chain.complete,
        "n_levels": len(chain.beta),
        "rows": rows,
        "values": list(chain.values),
        "proposal_values": list(chain.proposal_values),
        "modes": None if chain.modes is None else _learnt_facts(chain.modes),
    }


def _learnt_facts(modes: LearntModes) -> dict[str, Any]:
    return {"n_components": len(modes.weight), **{name: getattr(modes, name) for name in LEARNT}}


def _modes_or_none(chain: ChainRecord, name: str) -> np.ndarray[Any, Any]:
    """What was learnt, or as much of nothing."""
    if chain.modes is not None:
        return np.asarray(getattr(chain.modes, name))
    dim = chain.sampling.draws.shape[1]
    return np.empty((0, *(dim,) * MODES[name]))


def _fields(arrays: Arrays, about: dict[str, Any]) -> dict[str, Any]:
    arrays["sampling.draws"] = arrays["draws"]
    return {
        **{name: about[name] for name in FACTS},
        "chains": tuple(_chain(arrays, index, facts) for index, facts in enumerate(about["chains"])),
        "seed": seed_from_plain(about["seed"]),
        "setup": RunSetup(**about["setup"]),
        **{which: names_from_plain(about[which]) for which in NAMES},
    }


def _chain(arrays: Arrays, index: int, facts: dict[str, Any]) -> ChainRecord:
    """One chain, without the padding."""
    fields: dict[str, Any] = {name: arrays[name][index, : facts["n_levels"]] for name in ENDS}
    for phase in PHASES:
        fields[phase] = Trace._make(
            arrays[f"{phase}.{field}"][index, :length]
            for field, length in zip(Trace._fields, facts["rows"][phase], strict=True)
        )
    n_draws = len(fields["sampling"].draws)
    return ChainRecord(
        **fields,
        values={name: arrays[f"values.{name}"][index, :n_draws] for name in facts["values"]},
        proposal_values={
            name: arrays[f"proposal_values.{name}"][index, : len(fields["sampling"].proposal)]
            for name in facts["proposal_values"]
        },
        level_points=_level_points(arrays, index, facts),
        bound_hits=arrays["bound_hits"][index],
        n_bad_density=facts["n_refused"],
        setbacks=tuple(facts["setbacks"]),
        lengthened=tuple(facts["lengthened"]),
        ladder=tuple(facts["ladder"]),
        ran_off=tuple(facts["ran_off"]),
        thin=facts["thin"],
        complete=facts["complete"],
        modes=None if facts["modes"] is None else _learnt(arrays, index, facts["modes"]),
    )


def _level_points(arrays: Arrays, index: int, facts: dict[str, Any]) -> Any:
    """Rows as many as there are of the levels as they were sampled."""
    if "level_points" not in arrays:
        return None
    length = dict(zip(Trace._fields, facts["rows"]["sampling"], strict=True))["level_draws"]
    return lambda: arrays["level_points"][index, :length]


def _learnt(arrays: Arrays, index: int, facts: dict[str, Any]) -> LearntModes:
    rows = {name: arrays[f"modes.{name}"][index, : facts["n_components"]] for name in MODES}
    return LearntModes(**rows, **{name: facts[name] for name in LEARNT})


def _stack(columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """One array of all chains; the shorter ones end in NaN, or -1 among whole numbers."""
    first = columns[0]
    filler = np.nan if first.dtype.kind == "f" else -1
    longest = max(len(column) for column in columns)
    stacked = np.full((len(columns), longest, *first.shape[1:]), filler, dtype=first.dtype)
    for row, column in zip(stacked, columns, strict=True):
        row[: len(column)] = column
    return stacked
