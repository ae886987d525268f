"""Each warning in plain words: what it means, where it comes from, what helps; also as a page of the docs."""

# By name, in the order of the rules: what was seen; the usual causes; what to do, the likeliest first.
EXPLAINED: dict[str, tuple[str, str, str]] = {
    "no draws": (
        "The run ended before its first draw, or none was asked for.",
        "A stop or an error while tuning; draws=0.",
        "Resume the run if it has a store; a shorter tuning; draws=5000.",
    ),
    "rounding": (
        "The log density is so large that doubles of its size lie more than 0.1 apart: chance decides"
        " what is accepted.",
        "A huge constant in the log density, or a start so far off that the run never arrived.",
        "Leave constants out from the start, not at the end; or a start nearer the mass.",
    ),
    "never moved": (
        "A coordinate has one and the same value in all draws.",
        "A density that is -inf or NaN everywhere but at the start; a coordinate with a support of no width.",
        "Evaluate the density by hand beside the start; a density without that coordinate; another start.",
    ),
    "hardly moved": (
        "A coordinate took a handful of values in a chain, so that R-hat and ESS mean nothing.",
        "Hard walls near the start, rejected proposals, scales that differ by many powers of ten, too "
        "short a tuning.",
        "Mend what refuses proposals; other units; another start; longer tuning.",
    ),
    "too few levels": (
        "The hottest level still has several modes, more heat would open them, and the chains do not agree.",
        "A ladder that ends too cold; modes too far apart for heat alone.",
        "Prior and likelihood apart (log_prior=, log_likelihood=, or a Model), so that the hottest "
        "level is the prior; more levels.",
    ),
    "dead edge": (
        "Hardly a position passed between two neighbouring levels: what is above does not help what "
        "is below.",
        "Too few levels for the barrier between them; a ladder that had not settled when it was "
        "frozen; a density that changes its kind with heat.",
        "The levels that the message names; longer tuning; prior and likelihood apart.",
    ),
    "no round trips": (
        "No position travelled from the first level to the last and back, and jumps did not do its work.",
        "Too few draws for so long a ladder; swaps that diffuse.",
        "More draws; swaps=temperance.swaps.even_odd().",
    ),
    "lost mode": (
        "While tuning, a chain was at a log density far above that of all draws since.",
        "A high and narrow mode that was left and not found again; it may hold most of the mass, or nothing.",
        "Longer tuning, with some chains started at the point that the message names.",
    ),
    "missed mode": (
        "A chain never visited a mode that another did, or chains differ in the weights of the modes.",
        "Modes that neither the ladder nor jumps connect; too short a tuning to learn of them; too "
        "few draws.",
        "More draws; longer tuning; more levels; prior and likelihood apart.",
    ),
    "unknown mode": (
        "A chain that jumps has many draws far from all that was learnt.",
        "A mode that was found late, or one with a shape that components do not fit.",
        "Longer tuning.",
    ),
    "unknown accuracy": (
        "R-hat or the effective sample size of a parameter cannot be computed.",
        "Fewer than four draws a chain, or draws that do not differ.",
        "More draws; see what keeps the parameter where it is.",
    ),
    "chains differ": (
        "R-hat of a parameter is above 1.01.",
        "Chains that have not arrived, or are too short; modes that they have not in common.",
        "The cures of warnings above it first; then more draws.",
    ),
    "low ESS": (
        "A parameter has an effective sample size below 100 for each chain.",
        "Slow mixing: coordinates tied to each other, a mode with a shape that walks do not fit; or "
        "few draws.",
        "More draws, or until=temperance.Until(ess=...); a parametrisation in which coordinates are "
        "less tied.",
    ),
    "idle jumps": (
        "There are several modes, they were learnt, and jumps between them hardly succeed.",
        "Modes not known well enough, or with shapes that jumps do not fit; many dimensions.",
        "Longer tuning; nothing, if there are no other warnings.",
    ),
    "still adapting": (
        "Scales or temperatures still moved when the draws began.",
        "Too short a tuning; a start far from the mass.",
        "Longer tuning; a start nearer the mass.",
    ),
    "learning failed": (
        "Something could not be learnt while tuning, and stayed as it was.",
        "Parameters or log densities that are very large or small; an error that the message names; a "
        "density that raises, or is NaN or +inf, where a scout came by (which ends that scout).",
        "Other units; mend what the error names; nothing, if there are no other warnings.",
    ),
    "bound hit": (
        "A temperature gap, a scale or a variance reached the edge of its compact set.",
        "A target that is flat or improper in some direction, at the first level or when it is heated.",
        "A proper target; bounds or a prior for the parameter; fewer levels; wider Bounds.",
    ),
    "too many levels": (
        "All levels that may go have gone, or the hottest temperature ran into its bound.",
        "A target that looks unimodal from the first level on; or one that is improper when it is heated.",
        "The levels that are left; starts further apart, if there may be other modes.",
    ),
    "no statistics": (
        "Only draws were kept, so that ladder, swaps and jumps could not be checked.",
        "keep='draws'.",
        "A shorter run with keep=('draws', 'statistics') first.",
    ),
    "one chain": (
        "A single chain cannot be compared with another, so a missed mode would not show.",
        "chains=1.",
        "Four chains, started far apart.",
    ),
    "goals missed": (
        "A run with goals ended before all were met.",
        "A budget that was spent; a goal that cannot be computed, as of a parameter that never moved.",
        "The cures of the other warnings; a larger budget; temperance.resume(folder, until=...) goes on.",
    ),
    "incomplete run": (
        "The run was stopped, or failed.",
        "A signal, a Stop, an error of the density, a full disk.",
        "temperance resume, if the run was written to a folder; else the same call again, with store=.",
    ),
}


def explained(name: str) -> str:
    """One warning, as people read it."""
    seen, causes, cures = EXPLAINED[name]
    return f"{name}\n\nWhat was seen: {seen}\nUsual causes: {causes}\nWhat helps: {cures}"


def page() -> str:
    """All of them as a page of the docs."""
    parts = [
        f"## {name}\n\n{seen}\n\n**Usual causes.** {causes}\n\n**What helps.** {cures}\n"
        for name, (seen, causes, cures) in EXPLAINED.items()
    ]
    head = (
        "# Warnings\n\n"
        "Each warning of a result, in the order in which they are told: causes before consequences.\n"
        "The numbers behind them are on the page about [results](results.md#the-verdict-and-the-warnings).\n"
        "From a shell, `temperance explain NAME` prints one of these, and `temperance explain --all` this "
        "page.\n"
    )
    return "\n".join([head, *parts])
