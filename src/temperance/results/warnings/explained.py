"""Each warning in plain words: what it means, where it comes from, what helps; also as a page of the docs."""

# By name, in the order of the rules: what was seen; the usual causes; what to do, the likeliest first.
EXPLAINED: dict[str, tuple[str, str, str]] = {
    "no draws": (
        "The run ended before its first draw, or none was asked for.",
        "A stop or an error while tuning; draws=0.",
        "Resume the run if it has a store; a shorter tuning; draws=5000.",
    ),
    "not repeatable": (
        "Asked twice at the same point before the run, the log density gave two values.",
        "Random numbers in the density; a cache or a state that it changes; threads that write to one place.",
        "A density that depends on its point alone.",
    ),
    "does not fall off": (
        "Far out along a ray, the density falls too slowly to have a finite integral.",
        "A wrong sign; the density and not its logarithm; a parameter that neither data nor prior bounds.",
        "Mend the sign; a prior or bounds for each parameter.",
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
        "Mend what rejects proposals; other units; another start; longer tuning.",
    ),
    "stuck chain": (
        "A chain stayed at one point for a tenth of its draws or more, and moves elsewhere.",
        "A spike of the density: a scale that goes to zero at a single observation, so that the likelihood "
        "has no bound; or a start far up a narrow mode that steps do not fit.",
        "Look at the point: a prior that keeps scales away from zero; else longer tuning.",
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
    "endless heat": (
        "A hot level went farther and farther out while tuning, and the ladder was not heated beyond it.",
        "Heavy tails, or a direction in which the density hardly changes: heated, such a target has no "
        "finite integral, and there is nothing for a hot level to settle on.",
        "Prior and likelihood apart (log_prior=, log_likelihood=, or a Model), so that heat ends at the "
        "prior; nothing, if the target should be so and there are no other warnings.",
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
    "incomplete run": (
        "The run was stopped, or failed.",
        "A signal, a Stop, an error of the density, a full disk.",
        "temperance resume, if the run was written to a folder; else the same call again, with store=.",
    ),
    "goals missed": (
        "A run with goals ended before all were met.",
        "A budget that was spent; a goal that cannot be computed, as of a parameter that never moved.",
        "The cures of the other warnings; a larger budget; temperance.resume(folder, until=...) goes on.",
    ),
}


# The causes that rules tell apart, by name: what shows it; what to do.
CAUSES: dict[str, tuple[str, str]] = {
    "a density of chance": (
        "The preflight asked twice at one point and got two values.",
        "Take random numbers out of the log density, or give them a fixed seed at each call.",
    ),
    "a density that does not fall off": (
        "The preflight went out along rays, to a thousand and a million times the size of the start, and the "
        "density fell no faster than the distance to the power of minus the dimension.",
        "The logarithm, with its sign; then a prior or bounds for what the data do not bound.",
    ),
    "far from the mass": (
        "The log density is so large that its digits end, and still changes from draw to draw.",
        "A start nearer the mass; other units.",
    ),
    "a density without a value": (
        "Draws stand still, and proposals were rejected for a NaN or +inf.",
        "A density that can be computed everywhere, -inf outside of its support.",
    ),
    "a support without width": (
        "A coordinate has one value in all chains, and no proposal was rejected for a NaN.",
        "Another start, or a density without the coordinate.",
    ),
    "jumps are switched off": (
        "Jumps(enabled=False), and chains do not agree about modes.",
        "Switch them on.",
    ),
    "chains that learn alone": (
        "Jumps(share=False), and chains do not agree about modes.",
        "Let them share what they learn, the default.",
    ),
    "a high place that was left": (
        "While tuning, a chain was where the log density is far above all draws since.",
        "Starts there for some chains and not for others.",
    ),
    "improper when heated": (
        "The preflight saw the power of the distance with which the tails fall; divided by the "
        "dimension, it is "
        "the temperature from which on a heated density has no integral, and the ladder ends above it.",
        "A prior apart, which is not heated, or bounds; fewer levels.",
    ),
    "chains not arrived": (
        "From the first quarter of the draws to the last, the log density rose by more than two of its "
        "standard deviations.",
        "Longer tuning, from where the run ended.",
    ),
    "too short a tuning": (
        "Scales or temperatures still moved; or draws are in doubt, and the tuning was shorter than is "
        "usual in "
        "so many dimensions.",
        "Longer tuning.",
    ),
    "chains that are stuck": (
        "A chain took a handful of values, though its tuning was of the usual length and nothing else is "
        "told.",
        "Another start; longer tuning; other units.",
    ),
    "too cold at the top": (
        "The hottest level has several modes, and its scale was still rising with heat.",
        "More levels: as many as bring the scale to the threshold, and at most twice as many.",
    ),
    "a ladder that was cut down": (
        "Chains sat in one mode each, which looks unimodal, so that trimming dropped their hot levels.",
        "More levels, kept by Trimming(min_levels=).",
    ),
    "modes not learnt": (
        "A chain has no draws in a mode that others learnt to jump to, or draws lie far from all that "
        "was learnt.",
        "Longer tuning.",
    ),
    "hundreds of modes": (
        "Fifty modes or more share the draws.",
        "Longer tuning, and a hundred draws a chain for each mode at least.",
    ),
    "hard walls": (
        "The preflight met -inf along a ray, and steps are accepted at less than half of the rate aimed at.",
        "Parameters that know their bounds.",
    ),
    "tied coordinates": (
        "Within the largest mode, the correlations have a condition number above 1,000.",
        "Longer tuning, in which the shape is learnt; another parametrisation.",
    ),
    "a spike": (
        "A chain stays at one point for many draws, from which no step is accepted.",
        "Look at the density there; a scale that may go to zero needs a prior that keeps it away from zero.",
    ),
    "a funnel": (
        "Within the largest mode, one coordinate and the log of the width of another have a correlation "
        "above "
        "a half.",
        "Another parametrisation; steps that find their width at each place, Adaptation(walk='slice').",
    ),
    "few draws to judge by": (
        "There are fewer than the default of 5,000 a chain, beside other causes.",
        "As many as that, so that the next run can be judged.",
    ),
    "modes that are not connected": (
        "Some chain came into a mode fewer than ten times, so that more of the same says little about "
        "weights.",
        "Longer tuning.",
    ),
    "too few draws for so long a ladder": (
        "Neighbouring levels exchange, and no position went all the way and back.",
        "More draws; even-odd sweeps.",
    ),
    "slow mixing": (
        "More than twenty times as many draws would be needed.",
        "Longer tuning and twenty times the draws; if that does not help, another parametrisation.",
    ),
    "too few draws": (
        "All else is well, and at most twenty times as many draws would do.",
        "More draws: as many as the effective sample size asks for.",
    ),
    "a prior that should be apart": (
        "The ladder did not suffice, and all of the target is heated.",
        "Prior and likelihood apart (log_prior=, log_likelihood=, or a Model), if the target has a prior.",
    ),
    "jumps that do not fit": (
        "There are several modes, and jumps between them hardly succeed.",
        "Longer tuning; nothing, if there are no other warnings.",
    ),
    "levels without use": (
        "All levels that may go have gone, or the hottest ran into its bound.",
        "Nothing, or fewer levels, where no warning is serious and no edge near dead.",
    ),
    "a cause that no rule tells": (
        "What was seen fits none of the causes above.",
        "Longer tuning, more draws, starts elsewhere.",
    ),
}


def explained(name: str) -> str:
    """One warning, or one cause, as people read it."""
    parts = [name]
    if name in EXPLAINED:
        seen, causes, cures = EXPLAINED[name]
        parts.append(f"What was seen: {seen}\nUsual causes: {causes}\nWhat helps: {cures}")
    if name in CAUSES:
        shows, cure = CAUSES[name]
        parts.append(f"As a cause: {shows}\nWhat to do: {cure}")
    return "\n\n".join(parts)


def page() -> str:
    """All of them as a page of the docs."""
    parts = [
        f"## {name}\n\n{seen}\n\n**Usual causes.** {causes}\n\n**What helps.** {cures}\n"
        for name, (seen, causes, cures) in EXPLAINED.items()
    ]
    rows = [f"| {name} | {shows} | {cure} |" for name, (shows, cure) in CAUSES.items()]
    head = (
        "# Warnings\n\n"
        "Each warning of a result, in the order in which they are told: causes before consequences.\n"
        "The numbers behind them are on the page about [results](results.md#the-verdict-and-the-warnings).\n"
        "From a shell, `temperance explain NAME` prints one of these, and `temperance explain --all` this "
        "page.\n"
    )
    causes = (
        "## Causes\n\n"
        "Warnings are what was seen. What to do goes by causes, which rules tell apart: `result.advice` "
        "has them in "
        "the order in which to\ntry them, each once. A cause is told if it explains a warning that no "
        "cause before "
        "it explains, so what follows from the first\ncause is not treated beside it. What a program can "
        "change is "
        "in `result.changes`, as keyword arguments of `sample()`.\n\n"
        "| cause | what shows it | what to do |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    return "\n".join([head, *parts, causes])
