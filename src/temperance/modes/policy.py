"""The numbers about modes that nobody sets, each with its reason: when to learn, from what, and how far."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Learning:
    """When a chain fits modes while it tunes. Shares are of the tuning where nothing else is said."""

    first_fit: float = 0.03  # before that there is hardly a state to learn from
    first_fit_per_dim: int = 5  # iterations at least, or there are hardly as many states as dimensions
    fit_growth: float = 1.7  # the next fit comes when there are so many times as many states
    # When chains that share fit together: early, so that none looks for what another has found, and then as
    # more becomes known.
    meetings: tuple[float, ...] = (0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 1.0)
    near_zero: tuple[float, float] = (1e-3, 0.1)  # an efficiency that more tuning may help; below, nothing
    rising: float = 1.5  # times the efficiency of the fit before
    lately: float = 0.75  # of the tuning, after which chains should have met
    early_fits: float = 0.2  # in which even a mixture that will be good may be bad
    hopeless: float = 1e-6  # an efficiency that nothing has been seen to recover from
    aside_growth: float = 2.0  # between fits of a mixture that is hopeless so far
    last_fit: float = 0.85  # then one more at the end of the tuning
    early_states: float = 1.0 / 3.0  # of those seen are too early to learn from
    max_states: int = 1_500  # that one fit looks at
    max_work: float = 4e7  # states squared times dimension: what linking them takes
    max_modes: int = 400  # a jump asks for the density of every one of them
    explained: float = 0.999  # quantile of the distance from a mode up to which it explains a state
    worth_a_state: float = 1.0 / 3.0  # over the dimension: how much of an independent state a step is
    prior_acceptance: float = 0.3  # of jumps, before any was made
    prior_jumps: int = 20  # which that is worth
    keep_old: float = 0.8  # a new mixture that is worth less than this share of the old one is not taken
    first_coordinate_every: int = 2  # both kinds of step alike, until it is known which pays
    rarest_coordinate_every: int = 8  # what does not pay in one mode may in the next


@dataclass(frozen=True, kw_only=True)
class Scouting:
    """When scouts are sent and how far they walk."""

    check_per_dim: int = 2  # iterations between looks for states that no mode explains
    min_check: int = 20  # in few dimensions a look costs more than the steps between
    checks_a_decade: int = 40  # late in a long tuning looks are as rare as that
    steps_per_dim: int = 15  # in each round of a scout
    min_steps: int = 60  # in fewer the scale of a scout does not settle
    usual_rounds: int = 2  # a second one shows that it climbs no more
    max_rounds: int = 6  # a scout that still climbs then is given up
    climb_rounds: int = 20  # the same of a climb, which may come from far away
    stride: float = 0.1  # of the distance to the nearest mode, for the first steps of a climb
    kept: int = 10  # states of a scout
    max_archive: int = 1_500  # states that scouts brought back
    max_numbers: int = 4_000_000  # of points that scouts side by side ask about in a round
    free: int = 2  # scouts that the user's share of the evaluations does not limit
    blind_share: float = 0.3  # of the evaluations of scouts, for those that start where all is explained


@dataclass(frozen=True, kw_only=True)
class Surprise:
    """Which evaluated points start scouts, and what looking at them may cost."""

    floor_quantile: float = 0.999  # of the fall below the lowest peak, up to which a log density is high
    margin: float = 2.0  # above the prediction, in tails; within a mode it is that of clusters
    tightness: float = 0.97  # of squared distances: how well shapes are known at best
    # Degrees of freedom of the tails that modes are believed to have: light ones, so that little is
    # explained, until scouts come back from there and have found nothing.
    dofs: tuple[float, ...] = (10_000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
    n_vain: int = 16  # of such points that are remembered
    # What each point brings, in products of two coordinates: a tenth of an iteration on a density of 0.1 µs.
    work: float = 10.0
    work_per_dim: float = 1.0
    waiting: int = 16  # points that wait for a scout
    share: float = 0.5  # of the evaluations of scouts, for those that start from surprising points


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """What makes states a cluster, and a cluster a component."""

    link_quantile: float = 0.9  # two states of one mode are rarely farther apart than this quantile allows
    n_neighbours: int = 5  # the distance to this one tells how close states lie
    max_stretch: float = 4.0  # times that distance a link may bridge
    absorb_quantile: float = 0.99  # a small cluster nearer than that may be a part of the larger one
    absorb_excess: float = 2.0  # in a log density, beyond the √(2d) by which it varies in a mode
    prior_states: float = 2.0  # per dimension: what the pooled shape weighs against a mode's own states
    prior_more: float = 2.0  # and so many more, for the few dimensions
    n_reweighted: int = 3  # steps towards the fit of Student's t
    n_sweeps: int = 2  # the shape that states are whitened by is pooled from the clusters of the sweep before


@dataclass(frozen=True, kw_only=True)
class Regression:
    """How log densities make a component, and when a mode gets several."""

    max_dim: int = 30  # beyond it there are more coefficients than points
    max_points: int = 3_000  # beside the states, that one fit looks at
    reach: float = 1.5  # times the 99 % quantile of a squared distance: farther out a mode is no quadratic
    depth: float = 3.0  # below what nearly all states of a Gaussian have in log density
    prior_sd: float = 0.3  # of a coefficient: how far off moments usually are
    least_ridge: float = 1e-6  # of the total weight, so that too few directions do no harm
    max_shift: float = 4.0  # per dimension, squared: a peak farther away was guessed, not seen
    min_curvature: float = 0.02  # of the one before: a direction in which there is no peak
    widths: tuple[float, ...] = (0.95, 1.1)  # times the covariance; which suits Student's t is tried
    n_sweeps: int = 2  # the second from where the first came to
    min_judges: float = 1.0  # states per coefficient of a centre, to judge a component by
    split_after: float = 0.6  # of the tuning: splits take time, and early states show few bends
    good: float = 0.8  # of what Student's t can reach: no split is needed
    split_gain: float = 1.1  # a split pays that raises the efficiency by so much
    n_axes: int = 2  # the longest ones, across which a mode is cut
    cuts: tuple[float, ...] = (0.3, 0.5, 0.7)  # quantiles along an axis
    well_described: float = 0.3  # of the states: then their components' shape is that of modes
    trimmed: float = 0.005  # of a mode's states, at either end: tails are what tells a bend
    max_parts: int = 16  # of one mode
    n_rounds: int = 3  # between heights and shares of components that overlap


@dataclass(frozen=True, kw_only=True)
class Jumping:
    """What the mixture is made of, and how often to jump and to rest."""

    min_weight: float = 0.1  # over the number of modes: no mode is as good as forgotten
    negligible: float = -20.0  # log of a mass beside that of the heaviest mode
    negligible_per_dim: float = -0.5  # or that: in many dimensions volumes, and so masses, are poorly known
    broad_weight: float = 0.05  # of the defensive component
    trimmed: float = 0.02  # of the states, whose ratios say more about luck than about the mixture
    max_chance: float = 0.95  # walks go on: a mixture never knows all
    tuning_chance: tuple[float, float] = (0.2, 0.5)  # jumps have to be seen, and walks have to learn
    half_chance: float = 0.15  # over the dimension: an acceptance at which a jump is as good as a walk
    hot_share: float = 0.1  # of the evaluations that hot levels get once jumps are good
    good_acceptance: float = 0.25  # one jump in four: hot levels then rest as long as they may
    usual_novelty: float = 0.01  # a few states lie far out in the modes that they belong to
    refresh_chance: float = 0.5  # of a fresh proposal at the hottest level, whose walk must go on as well


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """Rounds of proposals at the end of the tuning, and the mixture that they teach."""

    share: float = 0.25  # of the evaluations of the tuning, all rounds together
    first_share: float = 0.02  # of them, in which it shows whether there is anything to gain
    n_rounds: int = 6
    most_points: int = 40_000  # of all chains and rounds: beyond, fitting takes longer than it brings
    least_per_dim: int = 20  # points of a round, or they say nothing about shapes
    good: float = 0.8  # of what Student's t can reach: then nothing is to be gained
    gain: float = 1.1  # times the efficiency with all tails; less is not worth another mixture
    rise: float = 1.05  # of the acceptance by the second round, or there are no more
    warmth: float = 0.5  # the power of the density that the wide components follow: it reaches over tails
    wide_share: float = 0.3  # of the proposals, for the wide ones: no ratio of densities gets large
    most_wide: int = 60
    first_width: float = 3.0  # times the scale matrix of the component there, where the wide ones begin
    emphasis: float = 0.5  # power of ℓ/q by which points count more where the mixture is thin
    most_emphasis: float = 5.0  # in a log weight: single points are no part of a mode
    em_steps: int = 3  # in each round; the next has other points
    prior_points: float = 2.0  # per dimension, that what a component was counts for
    least_weight: float = 1e-6  # of the largest: what is less takes time and says nothing
    badly_covered: float = 1.0  # in log ℓ/q: there a component is added
    added: int = 15  # in a round, at most
    most_components: int = 150  # without the wide ones: a jump asks for the density of each
    near_per_dim: int = 3  # points from which a component begins
    max_chance: float = 0.6  # of jumps from a mixture that was taught: steps lead out of tails that it misses
    n_pairs: int = 1_000  # of points of both kinds, from which the acceptance is told


@dataclass(frozen=True, kw_only=True)
class Leaping:
    """Leaps from mode to mode: when they are tried, what their maps are made from, and how often to leap."""

    min_dim: int = 20  # below it jumps do well, and carry the weighted estimates, which leaps would thin out
    poor_jumps: float = 0.25  # an acceptance of jumps below which leaps are tried; above, jumps do it all
    better: float = 2.0  # times the acceptance of jumps: so much a kind of leap has to have
    trial_chance: float = 0.06  # of each kind in tuning, until it is known
    idle_chance: float = 0.005  # of a kind that has failed: maps become better
    idle: float = 0.005  # an acceptance at which a kind has failed
    learning: float = 0.6  # of the tuning, in which maps with the pooled shape may fail: pairs teach them
    tuning_chance: float = 0.25  # of what is known to be good; walks have to learn
    max_chance: float = 0.5  # of all leaps: only walks and jumps change the place within a mode
    jumps_share: float = 0.1  # of the proposals that stay jumps, for weighted estimates and workers
    most_jumps: float = 0.3  # where leaps are better than they
    prior_acceptance: float = 0.05
    prior_leaps: int = 40  # which that is worth
    max_work: float = 2e8  # states times modes times dimension squared: what one look at the states takes
    states_per_mode: float = 4.0  # that are looked at in the time in which a walk forgets, about d steps
    even: float = 0.5  # of the weights of goals are even: in many dimensions masses are poorly known
    n_reweighted: int = 4  # steps towards a robust centre
    max_coefficients: int = 1_500  # that a regression on pairs finds at once
    pairs_per_coefficient: float = 1.5  # at least
    max_pairs: int = 6_000
    n_robust: int = 3  # regressions, each with the outliers of the one before weighing less
    outlier: float = 3.0  # times the median residual
    explained: float = 1.0  # sd of what is left of log ratios, below which pairs know best where centres are
    damping: tuple[float, float] = (0.1, 0.8)  # of what pairs say: the shape that it is in is known poorly
    progress: float = 0.7  # times what pairs said before: a smaller step has to follow what is above
    damping_falls: float = 0.5  # by which it is then multiplied
    damping_grows: float = 1.5  # and by which otherwise
    explained_share: float = 0.5  # or of what there was
    constant_sd: float = 30.0  # times the prior sd of other coefficients: heights differ by any number
    bounds: tuple[float, float] = (-0.5, 1.0)  # of the change of a mode's precision at once
    sizes: tuple[float, float] = (0.5, 2.0)  # of a mode beside the others, where little is known of it
    novel: float = 1.5  # times the squared distance that explains a state


@dataclass(frozen=True, kw_only=True)
class HumpFitting:
    """Which coordinates have several humps."""

    min_states: int = 200
    max_states: int = 4_000
    n_bins: int = 120
    window: float = 0.03  # of the range: how far the density is smoothed, as an sd
    depth: float = 0.5  # of the lower of two peaks: a valley between them is lower
    min_share: float = 0.01  # of a hump
    width: float = 1.1  # times its sd: proposals reach a little farther
    least_share: float = 0.1  # of the proposals, over the number of humps
    max_humps: int = 8


@dataclass(frozen=True, kw_only=True)
class Matching:
    """Which components of several chains are the same, and which are one mode."""

    same_quantile: float = 0.5  # the centre of each lies in the inner half of the other's mass
    max_overlap: float = 0.06  # of one's draws that might be another's, for two modes; by looking at the zoo
    between: float = 0.1  # the chance to come from either of two components that draws between them have
    least_between: int = 3  # of them, to tell whether the density falls there
    ridge_fall: float = 0.5  # in a log density; of peaks 4.1 sd apart it is more, along rings less
    far_quantile: float = 0.999  # of the distance from a centre; draws beyond it no component explains
    fragment: float = 0.005  # of the draws; what is smaller may be a part of another mode's tail
    tail_dof: float = 5.0  # of Student's t, whose tails are heavier than those of most modes


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """Which gaps between draws tell modes apart where nothing was learnt."""

    max_points: int = 1_000  # that are clustered; the others follow the nearest of them
    neighbour: int = 10  # the distance to this neighbour tells how dense the draws are around a point
    min_share: float = 0.02  # of the points; what is smaller joins the nearest
    min_gap: float = 3.0  # times the usual spacing within the sparser of two groups, to hold them apart


@dataclass(frozen=True, kw_only=True)
class Heating:
    """When levels are put in or taken out between segments of the tuning."""

    # Shares of the tuning, all of them meetings of chains that share: each about twice as late as the last,
    # so that levels have settled since.
    looks: tuple[float, ...] = (0.06, 0.12, 0.25, 0.5, 1.0)
    settled: float = 0.2  # of the tuning, before which levels that began at one point are still alike
    last_change: float = 0.5  # of the tuning: then averages begin, and the ladder shrinks
    # Squared distances between modes, in widths of a level. At six widths a walk goes over the saddle, which
    # is exp(−6²/8) as high as the peaks; a shape that has not settled makes one mode look up to ten wide.
    merged: float = 36.0
    apart: float = 100.0
    several: float = 0.5  # of the scale at which a level passes for unimodal, beside one that does
    plainly_several: float = 0.15  # of it: correlated normals in 50 dimensions, ill learnt, come to 0.26
    at_once: float = 1.0  # of the levels, that may be put in at one look: what lies beyond was not seen
    least_rate: float = 1e-3  # of an edge whose length can be told; below, hardly any exchange was seen
    dead: float = 0.02  # an exchange rate by which nearly nothing passes; adaptation wants ten times that
    least_ratio: float = 1.2  # of two temperatures between which another would be of use
    lately: float = 0.75  # of the iterations so far, after which rates are measured
    least_iterations: int = 25  # of these, without which nothing can be said of them
    far: float = 100.0  # base widths times the temperature; tails that fall exponentially reach a few
    on_the_way: float = 10.0  # of the same: farther than any level within its mode
    deep: float = 5.0  # per dimension, in a log density: how far below the base level no mode is
    outgrown: float = 2.0  # times as far as at the look before, twice in a row: there is no end to it


@dataclass(frozen=True, kw_only=True)
class ManyDimensions:
    """What is otherwise beyond some thirty dimensions, where jumps die and shapes are learnt slowly.

    All that is spent on jumps, scouts and fresh proposals is then missing elsewhere.
    """

    beyond: int = 30
    jump_chance: float = 0.02  # in tuning, of jumps that are worth nothing yet: enough to see it
    hump_depth: float = 0.1  # of a valley: a walk that is slow makes shallow ones
    states_per_dim: int = 30  # a coordinate forgets ten times where it was; before, all have humps


LEARNING, SCOUTING, SURPRISE, FITTING = Learning(), Scouting(), Surprise(), Fitting()
HEATING = Heating()
REGRESSION, JUMPING, MATCHING, GAPS = Regression(), Jumping(), Matching(), Gaps()
LEAPING, HUMP_FITTING = Leaping(), HumpFitting()
TEACHING = Teaching()
MANY = ManyDimensions()
