"""Normals and uniforms by the block: NumPy's own numbers, bit for bit, at a fifth of the time.

A stream is the state of an SFC64 generator, four words. Normals come from a ziggurat with NumPy's tables
(``ziggurat.csv``, read off its generator by tools/ziggurat_tables.py), so a stream gives exactly what
``numpy.random.Generator`` gives from the same state; that is what the tests hold it to.
"""

import functools
import math
from collections.abc import Callable
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numba import types

from temperance.core.compile import compiled, compiled_for, kernel_digest
from temperance.core.lanes import LANES
from temperance.core.schema import numba_type
from temperance.core.state import FloatArray, Noise, WordArray

MANTISSA_SIZE = 2.0**52
UNIFORM_STEP = 2.0**-53  # uniforms are multiples of it
_word = np.uint64
_ONE, _LAYER, _SIGNED_LAYER = _word(1), _word(0xFF), _word(0x1FF)
_MANTISSA = _word((1 << 52) - 1)
_TAIL_SIGN_BIT = _word(0x20000)  # a bit of the mantissa


class Streams(NamedTuple):
    """Where the random numbers of a chain come from."""

    normal: WordArray  # (level, STREAM_WORDS)
    uniform: WordArray  # (level, STREAM_WORDS)
    move: WordArray  # (level, STREAM_WORDS)
    swap: WordArray  # (STREAM_WORDS,)
    jump: WordArray  # (STREAM_WORDS,)


class Ziggurat(NamedTuple):
    """The layers under the normal density, the lowest one with the tail first."""

    limit: WordArray  # (256,) mantissas below it are accepted at once
    width: FloatArray  # (512,) of one step of the mantissa; then the same with the other sign
    height: FloatArray  # (256,) density at the layer's edge
    tail: FloatArray  # (1,) where the tail begins


@functools.cache
def ziggurat() -> Ziggurat:
    """The tables, from the file beside this module."""
    lines = (resources.files("temperance.core") / "ziggurat.csv").read_text(encoding="utf-8").split()[1:]
    limits, widths = zip(*(line.split(",") for line in lines), strict=True)
    width = np.array([float.fromhex(text) for text in widths])
    height = np.array([1.0] + [math.exp(-0.5 * (edge * MANTISSA_SIZE) ** 2) for edge in width[1:]])
    return Ziggurat(
        np.array([int(text) for text in limits], dtype=np.uint64),
        np.concatenate([width, -width]),
        height,
        width[-1:] * MANTISSA_SIZE,
    )


@compiled
def next_word(stream: WordArray) -> Any:
    """The next 64 bits of SFC64 (Doty-Humphrey 2010), in place."""
    a, b, c, counter = stream[0], stream[1], stream[2], stream[3]
    word = a + b + counter
    stream[0] = b ^ (b >> _word(11))
    stream[1] = c + (c << _word(3))
    stream[2] = ((c << _word(24)) | (c >> _word(40))) + word
    stream[3] = counter + _ONE
    return word


@compiled
def next_uniform(stream: WordArray) -> float:
    """A uniform on [0, 1), in place."""
    return float(np.int64(next_word(stream) >> _word(11)) * UNIFORM_STEP)


@compiled
def normal_from_word(word: Any, stream: WordArray, tables: Ziggurat) -> float:
    """The normal that begins with these bits; one in a hundred needs more, in place."""
    while True:
        layer, mantissa = word & _LAYER, (word >> _word(9)) & _MANTISSA
        normal = np.int64(mantissa) * tables.width[word & _SIGNED_LAYER]
        if mantissa < tables.limit[layer]:
            return float(normal)
        if layer == 0:
            return tail_normal(word, stream, tables)
        here, below = tables.height[layer], tables.height[layer - _ONE]
        if (below - here) * next_uniform(stream) + here < math.exp(-0.5 * normal * normal):
            return float(normal)
        word = next_word(stream)


@compiled
def tail_normal(word: Any, stream: WordArray, tables: Ziggurat) -> float:
    """A normal beyond the last layer (Marsaglia 1964), in place."""
    tail = tables.tail[0]
    while True:
        beyond = -(1.0 / tail) * math.log1p(-next_uniform(stream))
        height = -math.log1p(-next_uniform(stream))
        if height + height > beyond * beyond:
            return float(-(tail + beyond) if word & _TAIL_SIGN_BIT else tail + beyond)


@compiled
def fill_normals(
    stream: WordArray, tables: Ziggurat, lane: int, first: int, step: int, out: FloatArray
) -> None:
    """Normals into one lane of every ``step``-th row of ``out``, (iteration, dim, LANES), in place.

    The generator's state stays in registers on the common path; only a number that needs more writes it back.
    """
    a, b, c, counter = stream[0], stream[1], stream[2], stream[3]
    for iteration in range(first, out.shape[0], step):
        for i in range(out.shape[1]):
            word = a + b + counter
            counter += _ONE
            a = b ^ (b >> _word(11))
            b = c + (c << _word(3))
            c = ((c << _word(24)) | (c >> _word(40))) + word
            mantissa = (word >> _word(9)) & _MANTISSA
            out[iteration, i, lane] = np.int64(mantissa) * tables.width[word & _SIGNED_LAYER]
            if mantissa >= tables.limit[word & _LAYER]:
                stream[0], stream[1], stream[2], stream[3] = a, b, c, counter
                out[iteration, i, lane] = normal_from_word(word, stream, tables)
                a, b, c, counter = stream[0], stream[1], stream[2], stream[3]
    stream[0], stream[1], stream[2], stream[3] = a, b, c, counter


@compiled
def fill_uniforms(stream: WordArray, first: int, step: int, out: FloatArray) -> None:
    """Uniforms on [0, 1) into every ``step``-th place, in place."""
    for k in range(first, out.shape[0], step):
        out[k] = next_uniform(stream)


@functools.cache
def compiled_fill() -> Callable[..., None]:
    """The filler of a block of noise, compiled on first use and cached."""
    digest = kernel_digest()
    words, numbers = types.uint64[::1], types.float64[::1]
    tables_type = types.NamedTuple((words, numbers, numbers, numbers), Ziggurat)
    by_level = types.uint64[:, ::1]
    streams_type = types.NamedTuple((by_level, by_level, by_level, words, words), Streams)
    signature = types.void(
        streams_type, types.int64, types.int64, types.int64, tables_type, numba_type(Noise)
    )

    @compiled_for(signature)
    def fill(streams: Streams, n_live: int, first: int, step: int, tables: Ziggurat, noise: Noise) -> None:
        """Numbers for the live levels, for the swaps and for the jumps, in place.

        Hot levels and swaps get numbers from row ``first`` on, every ``step`` rows: between them they rest.
        """
        digest  # noqa: B018  a closure constant, so part of the cache key
        for row in range(first, noise.swap_uniforms.shape[0], step):
            fill_uniforms(streams.swap, 0, 1, noise.swap_uniforms[row])
        for level in range(n_live):
            start, every = (0, 1) if level == 0 else (first, step)
            normals = noise.normals[level // LANES]
            fill_normals(streams.normal[level], tables, level % LANES, start, every, normals)
            fill_uniforms(streams.uniform[level], start, every, noise.uniforms[level])
            n_rows = noise.move_uniforms.shape[1] if noise.move_uniforms.shape[2] > 0 else 0
            for row in range(start, n_rows, every):
                fill_uniforms(streams.move[level], 0, 1, noise.move_uniforms[level, row])
        for row in range(noise.jump_uniforms.shape[0]):
            for place in range(noise.jump_uniforms.shape[1]):
                fill_uniforms(streams.jump, 0, 1, noise.jump_uniforms[row, place])

    return fill
