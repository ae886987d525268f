"""Names for the coordinates of a draw: which parameters they make up, of which shapes."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from temperance.checks import whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError, InvalidTypeError

DEFAULT_NAME = "x"
RESERVED = ("chain", "draw", "edge", "level", "weighted_draw")  # the dimensions of what a run leaves


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Consecutive coordinates as named arrays; ``dims`` and ``coords`` mean what they mean in ArviZ.

    There may be dims of further values, too, which a model makes of these.
    """

    shapes: Mapping[str, tuple[int, ...]]
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    # By label: where a value that goes in circles begins, and how long a turn is.
    periods: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many coordinates all parameters have together."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def labels(self) -> list[str]:
        """One for each coordinate: ``mu``, ``x[0]``, ``effect[north, 2]``."""
        return [label for name in self.shapes for label in self._labels_of(name)]

    def dims_of(self, name: str) -> tuple[str, ...]:
        """The names of a parameter's own dimensions; made up as ArviZ does when none were given."""
        return self.dims.get(name, tuple(f"{name}_dim_{k}" for k in range(len(self.shapes[name]))))

    def split(self, points: FloatArray) -> dict[str, FloatArray]:
        """The parameters in an array (..., dim), each of shape (..., *its shape)."""
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            end = start + math.prod(shape)
            parts[name] = points[..., start:end].reshape((*points.shape[:-1], *shape))
            start = end
        return parts

    def index(self, which: int | str) -> int:
        """The coordinate with this number or label."""
        labels = self.labels
        if isinstance(which, str):
            if which not in labels:
                known = ", ".join(labels[:10]) + (", ..." if len(labels) > 10 else "")
                raise InvalidInputError(f"parameter must be one of {known}; got {which!r}")
            return labels.index(which)
        if not whole_number("parameter", which, least=0) < len(labels):
            raise InvalidInputError(f"parameter must lie in 0 to {len(labels) - 1}, got {which}")
        return int(which)

    def _labels_of(self, name: str) -> list[str]:
        axes = [
            self.coords.get(dim, range(length))
            for dim, length in zip(self.dims_of(name), self.shapes[name], strict=True)
        ]
        if not axes:
            return [name]
        return [f"{name}[{', '.join(str(one) for one in place)}]" for place in itertools.product(*axes)]


def parameters_from(given: Any, dim: int, dims: Any = None, coords: Any = None) -> Parameters:
    """Parameters from names and shapes, a list of names, or one name; checked against each other."""
    parameters = Parameters(
        shapes=_shapes(given, dim),
        dims={name: (word,) if isinstance(word, str) else tuple(word) for name, word in (dims or {}).items()},
        coords={name: tuple(np.asarray(values).tolist()) for name, values in (coords or {}).items()},
    )
    if parameters.size != dim:
        shapes = dict(parameters.shapes)
        raise InvalidInputError(
            f"parameters must have {dim} coordinates together, got {parameters.size}: {shapes}"
        )
    _check_dims(parameters)
    _check_names(parameters)
    _check_lengths(parameters)
    return parameters


def names_to_plain(names: Parameters | None) -> dict[str, Any] | None:
    """Names as JSON knows them."""
    return None if names is None else asdict(names)


def names_from_plain(plain: Any) -> Parameters | None:
    """Names that `names_to_plain` described."""
    if plain is None:
        return None
    return Parameters(**{part: {key: tuple(value) for key, value in plain[part].items()} for part in plain})


def _shapes(given: Any, dim: int) -> dict[str, tuple[int, ...]]:
    if isinstance(given, str):
        return {given: (dim,)}
    if isinstance(given, Mapping):
        return {name: _shape(name, value) for name, value in given.items()}
    if isinstance(given, Sequence):
        if len(set(given)) < len(given):
            raise InvalidInputError(f"parameters must have different names, got {list(given)}")
        return dict.fromkeys(given, ())
    raise InvalidTypeError(
        "parameters must be a mapping from names to shapes, such as {'mu': (3,), 'sigma': ()}, or a list of "
        f"names; got {type(given).__name__}: {given!r}"
    )


def _shape(name: str, value: Any) -> tuple[int, ...]:
    lengths = value if isinstance(value, tuple | list) else (value,)
    return tuple(whole_number(f"the shape of {name}", length, least=1) for length in lengths)


def _check_dims(parameters: Parameters) -> None:
    """Dimensions are given for parameters that exist, as many as they have."""
    for name, dims in parameters.dims.items():
        if name not in parameters.shapes:
            known = ", ".join(parameters.shapes)
            raise InvalidInputError(f"dims must be of {known}, got {name!r}")
        wanted = len(parameters.shapes[name])
        if len(dims) != wanted:
            raise InvalidInputError(f"dims of {name} must be {wanted} names, got {list(dims)}")


def _check_names(parameters: Parameters) -> None:
    """Words, none of them taken by what every result has, and none both a parameter and a dimension."""
    dims = {dim for name in parameters.shapes for dim in parameters.dims_of(name)}
    for name in (*parameters.shapes, *dims):
        check_name(name)
        if name in parameters.shapes and name in dims:
            raise InvalidInputError(f"{name!r} is both a parameter and a dimension; rename one of them")


def check_name(name: Any) -> None:
    """A word that no dimension of a result has."""
    if not isinstance(name, str) or not name:
        raise InvalidTypeError(f"the name of a parameter or dimension must be a word, got {name!r}")
    if name in RESERVED:
        raise InvalidInputError(
            f"the name {name!r} is taken, since every result has the dimensions {', '.join(RESERVED)}; "
            "choose another"
        )


def _check_lengths(parameters: Parameters) -> None:
    """Every dimension has one length, and as many coordinates if any were given."""
    lengths: dict[str, int] = {}
    for name, shape in parameters.shapes.items():
        for dim, length in zip(parameters.dims_of(name), shape, strict=True):
            if lengths.setdefault(dim, length) != length:
                raise InvalidInputError(f"the dimension {dim!r} has length {lengths[dim]} and {length}")
    for dim, values in parameters.coords.items():
        if dim not in lengths:
            known = ", ".join(lengths) or "nothing, since there are no dimensions"
            raise InvalidInputError(f"coords must be of {known}; got {dim!r}")
        if len(values) != lengths[dim]:
            raise InvalidInputError(f"coords of {dim} must be {lengths[dim]} values, got {len(values)}")
