"""``check()``: is a strategy what it should be? Exactly, on small ladders, and in words."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from temperance.checks import whole_number
from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.swaps.binding import BoundStrategy, bind
from temperance.swaps.custom import custom
from temperance.swaps.orbit import (
    Ladder,
    Pair,
    balance_error,
    exchanged,
    pair_probabilities,
    stationarity_error,
    sweep_matrix,
    weighted_matrix,
)
from temperance.swaps.strategy import Definition, Strategy

TOLERANCE = 1e-10  # far above rounding, far below any real mistake
MAX_LEVELS = 5  # the orbit has L! states
KERNEL_DRAWS = 20  # pairs drawn from the compiled kernel on each ladder
EVEN_POINTS = 500  # of a sequence that fills the square evenly, by the plastic number
EVEN_STEPS = np.array([0.7548776662466927, 0.5698402909980532])
EVEN_ERROR = 0.05  # well above what 500 such points leave
KINDS = 4  # of ladders: harmless, with ties, with huge gaps, with a density of zero
LARGEST_GAP = 1e6  # of log density, on adversarial ladders


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was found. ``ok`` is True when the strategy is exact; ``print`` says it in words."""

    name: str
    n_ladders: int
    problems: tuple[str, ...]
    symmetric: bool | None
    reversible: bool
    stationarity: float
    balance: float

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return f"{self.name} is not a valid swap strategy:\n" + "\n".join(f"- {p}" for p in self.problems)
        kind = {
            True: "its weights are finite, not negative, and symmetric: p_ij(T_ij x) = p_ij(x)",
            False: "its weights are finite, not negative, and not symmetric: their ratio is allowed for",
            None: "it sweeps over fixed pairs",
        }[self.symmetric]
        balance = "exactly reversible" if self.reversible else "not reversible: its iterations alternate"
        return (
            f"{self.name} is a valid swap strategy, on {self.n_ladders} random and adversarial ladders:\n"
            f"- {kind}\n- it is {balance}\n"
            f"- it leaves the tempered product exactly as it is (errors below {TOLERANCE:g})"
        )


def check(
    strategy: Strategy | Callable[..., float],
    *,
    levels: int = 4,
    dim: int = 3,
    ladders: int = 40,
    seed: int = 0,
) -> Verdict:
    """Examine a strategy, or a weight function as `custom` takes it, on the orbits of small ladders.

    On every ladder all permutations of the positions are enumerated and the transition matrix of the swap
    step is built from the weights and the loop's own acceptance. A quarter of the ladders are harmless, the
    others have ties, gaps of up to a million, or a density of zero beside a level at β = 0.
    """
    levels = whole_number("levels", levels, least=2)
    if levels > MAX_LEVELS:
        raise InvalidInputError(
            f"levels must be at most {MAX_LEVELS}, since all permutations are tried, got {levels}"
        )
    chosen = strategy if isinstance(strategy, Strategy) else custom(strategy)
    generator = np.random.default_rng(seed)
    tried = [
        _ladder(generator, levels, whole_number("dim", dim, least=1), kind % KINDS)
        for kind in range(whole_number("ladders", ladders, least=KINDS))
    ]
    return _examine_sweep(chosen, tried) if chosen.definition is None else _examine_weights(chosen, tried)


def _ladder(generator: np.random.Generator, levels: int, dim: int, kind: int) -> Ladder:
    log_density = generator.normal(0.0, 3.0, levels)
    beta = np.sort(generator.uniform(0.02, 0.98, levels))[::-1].copy()
    beta[0] = 1.0
    if kind == 1:
        log_density[-1] = log_density[0]
    elif kind == 2:
        log_density *= LARGEST_GAP ** generator.uniform(0.2, 1.0)
    elif kind == 3:
        beta[-1] = 0.0
        log_density[generator.integers(levels)] = -math.inf
    return Ladder(generator.normal(0.0, 2.0, (levels, dim)), log_density, beta)


def _examine_weights(strategy: Strategy, ladders: list[Ladder]) -> Verdict:
    definition = strategy.definition
    if definition is None:
        raise InvalidInputError(f"{strategy.name} has no weights")
    bad = next((text for ladder in ladders for text in _bad_weights(definition, ladder)), None)
    if bad is not None:
        return Verdict(
            name=strategy.name, n_ladders=len(ladders), problems=(bad,), symmetric=None, reversible=False,
            stationarity=math.inf, balance=math.inf,
        )  # fmt: skip
    matrices = [weighted_matrix(definition, ladder, heat_bath=strategy.heat_bath) for ladder in ladders]
    laws = [ladder.law() for ladder in ladders]
    stationarity = max(map(stationarity_error, matrices, laws))
    balance = max(map(balance_error, matrices, laws))
    symmetric = all(_is_symmetric(definition, ladder) for ladder in ladders)
    looks = [(look, ladder) for look in (_kernel_problems, _frequency_problems) for ladder in ladders]
    problems = [text for look, ladder in looks for text in look(strategy, definition, ladder)][:1]
    if stationarity > TOLERANCE or balance > TOLERANCE:
        problems.append(f"detailed balance fails by {balance:.1e}, stationarity by {stationarity:.1e}")
    if strategy.symmetric and not symmetric:
        problems.append("it is declared symmetric, but p_ij(T_ij x) differs from p_ij(x)")
    return Verdict(
        name=strategy.name, n_ladders=len(ladders), problems=tuple(problems), symmetric=symmetric,
        reversible=True, stationarity=stationarity, balance=balance,
    )  # fmt: skip


def _bad_weights(definition: Definition, ladder: Ladder) -> Iterator[str]:
    """Weights that are none, or that change from one call to the next."""
    for state in ladder.states:
        order = list(state)
        arrays = (ladder.position[order], ladder.log_density[order], ladder.beta.copy())
        kept = tuple(array.copy() for array in arrays)
        logs = definition(*arrays)
        if not all(np.array_equal(array, copy) for array, copy in zip(arrays, kept, strict=True)):
            yield "it changes its arguments"
        for i, j in itertools.combinations(range(len(order)), 2):
            if math.isnan(logs[i, j]) or logs[i, j] == math.inf:
                yield (
                    f"the weight of levels ({i + 1}, {j + 1}) is negative, infinite or NaN at log densities "
                    f"{arrays[1].tolist()}, inverse temperatures {ladder.beta.tolist()}"
                )
        if not np.array_equal(logs, definition(*kept), equal_nan=True):
            yield "the same state gives different weights from one call to the next"


def _is_symmetric(definition: Definition, ladder: Ladder) -> bool:
    first = ladder.states[0]
    here = np.exp(pair_probabilities(definition, ladder, first))
    pairs = itertools.combinations(range(len(first)), 2)
    there = {
        pair: np.exp(pair_probabilities(definition, ladder, exchanged(first, pair)))[pair] for pair in pairs
    }
    return all(abs(here[pair] - value) < TOLERANCE for pair, value in there.items())


def _kernel_problems(strategy: Strategy, definition: Definition, ladder: Ladder) -> Iterator[str]:
    """Pairs and ratios of the compiled kernel that the definition does not allow."""
    bound = _bound(strategy, ladder)
    generator = np.random.default_rng(len(ladder.beta))
    here = pair_probabilities(definition, ladder, ladder.states[0])
    for choice, other in generator.random((KERNEL_DRAWS, 2)):
        ratio, pair = _ask(bound, choice, other)
        if pair[0] < 0:
            if np.any(here > -math.inf):
                yield "the kernel finds no pair where there is one"
            continue
        if here[pair] == -math.inf:
            yield f"the kernel draws levels {pair[0] + 1} and {pair[1] + 1}, whose weight is zero"
            continue
        there = pair_probabilities(definition, ladder, exchanged(ladder.states[0], pair))[pair]
        exact = 0.0 if strategy.symmetric else there - here[pair]
        if not (ratio == exact or abs(ratio - exact) < TOLERANCE * max(1.0, abs(exact))):
            yield f"the kernel's ratio of weights is {ratio:.6g}, exactly {exact:.6g}"


def _frequency_problems(strategy: Strategy, definition: Definition, ladder: Ladder) -> Iterator[str]:
    """How often the compiled kernel draws each pair, over points spread evenly, against the definition."""
    bound = _bound(strategy, ladder)
    exact = np.exp(pair_probabilities(definition, ladder, ladder.states[0]))
    found = np.zeros_like(exact)
    for choice, other in (np.arange(1, EVEN_POINTS + 1)[:, None] * EVEN_STEPS) % 1.0:
        _, pair = _ask(bound, choice, other)
        if pair[0] >= 0:
            found[pair] += 1.0 / EVEN_POINTS
    worst = np.unravel_index(np.abs(found - exact).argmax(), exact.shape)
    if abs(found[worst] - exact[worst]) > EVEN_ERROR:
        yield (
            f"the kernel draws levels {worst[0] + 1} and {worst[1] + 1} with probability "
            f"{found[worst]:.3f}, by its weights {exact[worst]:.3f}"
        )


def _examine_sweep(strategy: Strategy, ladders: list[Ladder]) -> Verdict:
    """Sweeps: which pairs are tried is asked of the kernel, in two iterations and with two coins."""
    stationarity = balance = 0.0
    for ladder in ladders:
        law = ladder.law()
        even, odd = (_iteration_matrix(strategy, ladder, iteration) for iteration in (0, 1))
        stationarity = max(stationarity, stationarity_error(even, law), stationarity_error(odd, law))
        balance = max(balance, balance_error(even @ odd, law))
    problems = [] if stationarity < TOLERANCE else [f"stationarity fails by {stationarity:.1e}"]
    if strategy.reversible and balance > TOLERANCE:
        problems.append(f"it is declared reversible, but detailed balance fails by {balance:.1e}")
    return Verdict(
        name=strategy.name, n_ladders=len(ladders), problems=tuple(problems), symmetric=None,
        reversible=balance < TOLERANCE, stationarity=stationarity, balance=balance,
    )  # fmt: skip


def _iteration_matrix(strategy: Strategy, ladder: Ladder, iteration: int) -> FloatArray:
    sweeps = [_swept_pairs(strategy, ladder, iteration, coin) for coin in (0.25, 0.75)]
    matrices = [sweep_matrix(pairs, ladder, heat_bath=strategy.heat_bath) for pairs in sweeps]
    mean: FloatArray = np.mean(matrices, axis=0)
    return mean


def _swept_pairs(strategy: Strategy, ladder: Ladder, iteration: int, coin: float) -> list[Pair]:
    bound = _bound(strategy, ladder)
    bound.view.clock[0] = iteration
    pairs = []
    for attempt in range(strategy.attempts(len(ladder.beta))):
        bound.view.clock[1] = attempt
        _, pair = _ask(bound, coin, coin)
        pairs += [pair] if pair[0] >= 0 else []
    return pairs


def _bound(strategy: Strategy, ladder: Ladder) -> BoundStrategy:
    n_levels = np.array([len(ladder.beta)], dtype=np.int64)
    return bind(strategy, ladder.position.copy(), ladder.log_density.copy(), ladder.beta.copy(), n_levels)


def _ask(bound: BoundStrategy, choice: float, other: float) -> tuple[float, Pair]:
    bound.view.pair[:] = -1
    ratio = bound.kernel(bound.view, choice, other)
    return ratio, (int(bound.view.pair[0]), int(bound.view.pair[1]))
