"""What ended a chain, in words that name where: chain, level, iteration and point."""

from collections.abc import Sequence

from temperance.core.move import Move
from temperance.core.state import ASKED_TOO_OFTEN, BAD_RATIO, LEVEL, STATUS, Info, IntArray, State
from temperance.errors import (
    DensityError,
    MoveError,
    PoolError,
    RunError,
    SwapWeightError,
    TemperanceError,
)
from temperance.origin import told
from temperance.swaps import Strategy
from temperance.swaps.binding import BoundStrategy
from temperance.swaps.custom import explain_bad_weight
from temperance.targets import Bound
from temperance.text import counted

BAD_VALUE_CURE = "; Settings(bad_density='reject') counts such points as rejected instead"
RAISED_CURE = "; where the model cannot be computed, let the function catch that and return -inf"
MISTAKES = (  # of a program, which no point of its domain explains
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    TemperanceError,
    TypeError,
)


def density_failure(
    density: tuple[str, Bound],
    chain: int,
    state: State,
    info: Info,
    control: IntArray,
    cause: BaseException | None,
) -> BaseException:
    """The log density, by its name and bound to a chain, raised ``cause``, or is NaN or +inf."""
    name, bound = density
    row = int(control[LEVEL])
    if isinstance(cause, PoolError):
        return _of_the_pool(cause, chain, state, bound.show(info.proposal[row]))
    what = "raised an error"
    if cause is None:
        what = f"is {info.log_density[row] + info.log_prior[row]}"
    error = DensityError(
        f"the log density {name} {what} in chain {chain + 1}, level {int(info.asker[row]) + 1}, iteration "
        f"{int(state.iteration[0]) + 1}, at the point {bound.show(info.proposal[row])}"
        f"{BAD_VALUE_CURE if cause is None else told_with_cure(cause)}"
    )
    return _explained(error, cause)


def told_with_cure(cause: BaseException) -> str:
    """What a log density raised and, unless that is a mistake in the program, what it may do instead."""
    return told(cause) + ("" if isinstance(cause, MISTAKES) else RAISED_CURE)


def _of_the_pool(cause: PoolError, chain: int, state: State, point: str) -> PoolError:
    error = PoolError(
        f"{cause}; in chain {chain + 1}, iteration {int(state.iteration[0]) + 1}, asked for the log density "
        f"from the point {point} on"
    )
    error.__cause__ = cause
    return error


def swap_failure(
    strategy: Strategy, bound: BoundStrategy, chain: int, state: State, cause: BaseException | None
) -> BaseException:
    """A swap weight raised ``cause``, or is not a weight."""
    live = slice(0, int(state.n_levels[0]))
    what = explain_bad_weight(strategy, bound.view) if cause is None else "raised an error"
    seen = {
        "log densities": state.log_density,
        "inverse temperatures": state.beta,
        "positions": state.position,
    }
    error = SwapWeightError(
        f"the swap weight {strategy.name} {what} in chain {chain + 1}, iteration "
        f"{int(state.iteration[0]) + 1}; "
        f"{', '.join(f'{name} {array[live].tolist()}' for name, array in seen.items())}{told(cause)}"
    )
    return _explained(error, cause)


def move_failure(moves: Sequence[Move], chain: int, state: State, info: Info, control: IntArray) -> MoveError:
    """A move gave a ratio that is NaN, or asked for more evaluations than it declared."""
    row = int(control[LEVEL])
    level = row if control[STATUS] == BAD_RATIO else int(info.asker[row])
    move = moves[info.move[level]]
    what = "gave NaN as the log ratio of its proposal"
    if control[STATUS] == ASKED_TOO_OFTEN:
        what = f"asked for more than the {counted(move.max_evaluations, 'evaluation')} that it declared"
    return MoveError(
        f"the move {move.name} {what} in chain {chain + 1}, level {level + 1}, iteration "
        f"{int(state.iteration[0]) + 1}, at the point {state.position[level].tolist()}"
    )


def thawed_failure(move: Move, field: str, chain: int, first: int, last: int) -> MoveError:
    """A move went on learning after the tuning had ended."""
    return MoveError(
        f"the move {move.name} changed {field} while everything is frozen, in chain {chain + 1}, between "
        f"iterations {first + 1} and {last + 1}; only its learn() may do that"
    )


def own_failure(chain: int, iteration: int, cause: Exception) -> BaseException:
    """Something of ours failed, or the workers that a chain was sent to."""
    if isinstance(cause, PoolError):
        return _explained(PoolError(f"{cause}; in chain {chain + 1}, after iteration {iteration}"), cause)
    return _explained(RunError(f"chain {chain + 1} failed in iteration {iteration + 1}: {cause!r}"), cause)


def _explained(error: RunError, cause: BaseException | None) -> BaseException:
    """Errors are explained; a SystemExit or a KeyboardInterrupt is none and stays what it is."""
    if cause is not None and not isinstance(cause, Exception):
        return cause
    error.__cause__ = cause
    return error
