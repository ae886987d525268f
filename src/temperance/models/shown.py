"""A target whose errors show points in the terms of the model."""

from typing import Any

from temperance.core.state import FloatArray
from temperance.models.layout import Layout
from temperance.targets import Bound, Buffers, Target

MAX_LETTERS = 1_000  # of a point in a message


class Shown:
    """Another target, bound so that a point is shown as named values."""

    def __init__(self, target: Target, layout: Layout) -> None:
        self.bare, self._layout = target, layout
        self.name, self.has_prior = target.name, target.has_prior
        self.runs_in_parallel = target.runs_in_parallel

    def bind(self, buffers: Buffers) -> Bound:
        """Tie the target to one chain."""
        bound = self.bare.bind(buffers)
        bound.show = self._named
        return bound

    def _named(self, point: FloatArray) -> str:
        values: Any = self._layout.names.split(self._layout.values(point[None])[0])
        text = str({name: value.tolist() for name, value in values.items()})
        return text if len(text) <= MAX_LETTERS else f"{text[:MAX_LETTERS]}..."
