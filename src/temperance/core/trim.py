"""Phase 5: levels hotter than the first unimodal one are dropped."""

from temperance.core.compile import compiled
from temperance.core.levels import move_level
from temperance.core.move import score_level
from temperance.core.state import Settings, State


@compiled
def trim_is_due(iteration: int, settings: Settings) -> bool:
    """After N₀, every k iterations, and never before."""
    if settings.trim_after < 0 or iteration <= settings.trim_after:
        return False
    return bool((iteration - settings.trim_after) % settings.trim_every == 0)


@compiled
def scale_threshold(state: State, settings: Settings, walk: int, n_free: int) -> float:
    """The scale that tells a unimodal level: Eq. (11), or the Remark's more lenient one."""
    if settings.trim_leniency <= 0.0:
        return settings.trim_threshold
    largest = 0.0
    for level in range(n_free):
        largest = max(largest, score_level(state, walk, level))
    return min(settings.trim_threshold, (1.0 - settings.trim_leniency) * largest)


@compiled
def first_unimodal(state: State, settings: Settings, walk: int, n_free: int) -> int:
    """The first level whose scale, as its walk sees it, reaches the threshold; ``n_free`` when none does.

    A cold level that has seen one mode only looks unimodal too. The stricter rule is not deceived as long
    as a hotter level sees several: it takes the first level from which on all reach the threshold.
    """
    threshold = scale_threshold(state, settings, walk, n_free)
    found = n_free
    for level in range(n_free - 1, -1, -1):
        if score_level(state, walk, level) >= threshold:
            found = level
        elif settings.trim_needs_all:
            break
    return found


@compiled
def trim(state: State, settings: Settings, walk: int) -> None:
    """The first unimodal level becomes the last, Eq. (11); in place.

    Nothing changes when no level qualifies, or where the walk cannot tell. A level pinned at β = 0 stays: the
    levels between are dropped and it moves down. Bounds that were hit before count no longer.
    """
    n_pinned = 1 if settings.pinned else 0
    n_free = state.n_levels[0] - n_pinned
    kept = max(first_unimodal(state, settings, walk, n_free) + 1, settings.min_levels - n_pinned, 1)
    if kept >= n_free:
        return
    if settings.pinned:
        move_level(n_free, kept, state)
    state.n_levels[0] = kept + n_pinned
    state.bound_hits[:] = 0
