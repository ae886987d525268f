"""What a model is to the sampler.

To a user, a model is any object with these attributes; ``None`` is as good as none.

=====================================  ==========================================================
``dim``                                how many coordinates there are
``log_density``,                       the target as functions, whole or in two parts,
or ``log_likelihood``, ``log_prior``,  or as a `Target` of its own kind
or ``target``
``data``, ``vectorized``               what the functions want, as in ``sample()``; may be absent
``start``                              where chains start, as ``initial`` in ``sample()``; may be absent
``names``, ``dims``, ``coords``        of the coordinates, as in ``Result.named``; may be absent
``constrain``                          from rows of draws to values by name; may be absent
=====================================  ==========================================================

A log density alone is the short form of a model of which nothing else is known. A front-end for models of
another library makes a `ModelSpec` of them; an object with a method ``spec()`` that returns one is a model,
too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from temperance.core.state import FloatArray
from temperance.parameters import Parameters
from temperance.targets import Target

Constrain = Callable[[FloatArray], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Meaning:
    """What the coordinates of a draw mean.

    ``constrain`` takes draws as they are sampled, (n, dim), and returns values by name, each (n, ...), in the
    terms of the model. ``names`` are those of the coordinates as they are sampled: a coordinate that
    ``constrain`` changes has another name than what it is changed to.
    """

    dim: int | None = None  # not known of a function until there is a start
    names: Parameters | None = None
    constrain: Constrain | None = None
    # Names of the values that ``constrain`` makes, where these are what people are to see; it may make more.
    value_names: Parameters | None = None
    points: Callable[[FloatArray], FloatArray] | None = None  # those values alone, as rows of all of them
    transform: Mapping[str, Any] | None = None  # names and points as JSON knows them, for a store
    priors: Mapping[str, str] = field(
        default_factory=dict
    )  # in words, of the parameters of which they are known


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSpec(Meaning):
    """All that the sampler asks of a model.

    ``start`` is a point, one for each level, one for each chain and level, or a function of a generator.
    """

    target: Target
    start: Any = None
    unconstrain: Callable[[Any], Any] | None = None  # from a start in the terms of the model
    refuses_bad: bool = False  # a NaN is no mistake of the model's but its way to refuse a point
    improper: tuple[str, ...] = ()  # parameters without a proper prior, so that no level can be the prior


@runtime_checkable
class Specified(Protocol):
    """A model that says itself what the sampler asks."""

    def spec(self) -> ModelSpec:
        """All that the sampler asks."""
