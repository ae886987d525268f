"""What ended a chain, in words that name where: chain, level, iteration and point."""

from temperance.core.state import LEVEL, Info, IntArray, State
from temperance.errors import DensityError, RunError, SwapWeightError
from temperance.origin import came_from
from temperance.swaps import Strategy
from temperance.swaps.binding import BoundStrategy
from temperance.swaps.custom import explain_bad_weight

BAD_VALUE_CURE = "; Settings(bad_density='reject') refuses such points instead"


def density_failure(
    name: str, chain: int, state: State, info: Info, control: IntArray, cause: BaseException | None
) -> BaseException:
    """The log density raised ``cause``, or is NaN or +inf."""
    level = int(control[LEVEL])
    what = "raised an error"
    if cause is None:
        what = f"is {info.log_density[level] + info.log_prior[level]}"
    error = DensityError(
        f"the log density {name} {what} in chain {chain + 1}, level {level + 1}, iteration "
        f"{int(state.iteration[0]) + 1}, at the point {info.proposal[level].tolist()}"
        f"{BAD_VALUE_CURE if cause is None else came_from(cause)}"
    )
    return _explained(error, cause)


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
        f"{', '.join(f'{name} {array[live].tolist()}' for name, array in seen.items())}{came_from(cause)}"
    )
    return _explained(error, cause)


def own_failure(chain: int, iteration: int, cause: Exception) -> BaseException:
    """Something of ours failed."""
    return _explained(RunError(f"chain {chain + 1} failed in iteration {iteration + 1}: {cause!r}"), cause)


def _explained(error: RunError, cause: BaseException | None) -> BaseException:
    """Errors are explained; a SystemExit or a KeyboardInterrupt is none and stays what it is."""
    if cause is not None and not isinstance(cause, Exception):
        return cause
    error.__cause__ = cause
    return error
