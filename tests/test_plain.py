"""Settings, plans and seeds as plain values: everything comes back, and what does not fit is named."""

import json
from dataclasses import dataclass, replace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import temperance as tp
from harness import make_plan
from temperance.plain import from_plain, to_plain
from temperance.runs.plan import plan_from_plain, plan_to_plain
from temperance.runs.seeds import chain_seeds, recorded_seed, seed_from_plain, seed_to_plain
from temperance.settings import settings_from_plain, settings_to_plain
from temperance.swaps.recipe import FACTORIES, strategy_from_plain, strategy_to_plain
from temperance.targets import gather, make_target

TARGET = make_target(gather(lambda x: -0.5 * float(x @ x)), vectorized=False)


def through_json(plain):
    """What a strict writer and reader of JSON make of it."""
    return json.loads(json.dumps(plain, allow_nan=False))


def my_weight(i, j, x, log_density, beta):
    return 1.0


@numba.njit
def my_metric(one, other):
    return 1.0


@dataclass(frozen=True, kw_only=True)
class Inner:
    many: tuple[float, ...]
    perhaps: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    number: float
    whole: int
    yes: bool
    word: str
    inner: Inner
    absent: Inner | None = None


inners = st.builds(
    Inner, many=st.lists(st.floats(allow_nan=False)).map(tuple), perhaps=st.none() | st.integers()
)
outers = st.builds(
    Outer,
    number=st.floats(allow_nan=False),
    whole=st.integers(),
    yes=st.booleans(),
    word=st.text(),
    inner=inners,
    absent=st.none() | inners,
)


def between(low, high, **ends):
    return st.floats(low, high, **ends)


positive = st.floats(0, exclude_min=True, allow_infinity=False, allow_nan=False)
not_negative = st.floats(0, allow_infinity=False, allow_nan=False)
open_unit = between(0, 1, exclude_min=True, exclude_max=True)
half_open_unit = between(0, 1, exclude_max=True)
pairs = st.tuples(positive, positive).filter(lambda pair: pair[0] != pair[1]).map(sorted).map(tuple)
gains = st.builds(
    tp.Gain,
    exponent=between(0.5, 1, exclude_min=True),
    scale=positive,
    delay=not_negative,
    delay_per_dim=not_negative,
)
rings = st.integers(2, 9) | st.lists(
    st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5, unique=True
).map(sorted)
repeats = st.integers(1, 5)
strategies = st.one_of(
    st.builds(tp.swaps.even_odd),
    st.builds(tp.swaps.stochastic_even_odd),
    st.builds(tp.swaps.heat_bath),
    st.builds(tp.swaps.adjacent, repeats=repeats),
    st.builds(tp.swaps.uniform, repeats=repeats),
    st.builds(tp.swaps.equi_energy, repeats=repeats),
    st.builds(tp.swaps.scaled_energy, repeats=repeats),
    st.builds(tp.swaps.uphill, repeats=repeats),
    st.builds(tp.swaps.cold_energy, repeats=repeats),
    st.builds(tp.swaps.energy_rings, rings, repeats=repeats),
    st.builds(tp.swaps.big_jumps, metric=st.sampled_from(["euclidean", "manhattan"]), repeats=repeats),
)
settings = st.builds(
    tp.Settings,
    adaptation=st.builds(
        tp.Adaptation,
        walk=st.sampled_from(["robust", "covariance"]),
        coordinate_every=st.none() | st.integers(0, 9),
        when=st.sampled_from(["tuning", "always"]),
        gain=gains,
        covariance_gain=st.none() | gains,
        ladder_gain=st.none() | gains,
        walk_acceptance=st.none() | open_unit,
        swap_acceptance=open_unit,
        initial_log_scale=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        tempered_start=st.booleans(),
        average=st.booleans(),
    ),
    trimming=st.builds(
        tp.Trimming,
        enabled=st.booleans(),
        after=st.none() | st.integers(0),
        every=st.integers(1),
        min_levels=st.integers(1),
        rule=st.sampled_from(["all_hotter", "first"]),
        slack=st.none() | half_open_unit,
        leniency=half_open_unit,
    ),
    jumps=st.builds(tp.Jumps, enabled=st.booleans(), scout_share=half_open_unit, refresh=st.booleans()),
    bounds=st.builds(tp.Bounds, temperature_gap=pairs, scale=pairs, variance=pairs),
    swaps=strategies,
    bad_density=st.sampled_from(["raise", "reject"]),
)
entropies = st.integers(0, 2**130) | st.lists(st.integers(0, 2**70), min_size=1, max_size=4)
sequences = st.builds(
    np.random.SeedSequence,
    entropies,
    spawn_key=st.lists(st.integers(0, 2**40), max_size=3).map(tuple),
    pool_size=st.integers(4, 8),
)
one_seed = st.integers(0, 2**130) | sequences
seeds = (one_seed | st.lists(one_seed, min_size=1, max_size=3)).map(recorded_seed)


# ---- everything comes back


@given(outers)
def test_any_dataclass_of_plain_values_comes_back(value):
    """Broken: an infinity left as it is, which strict JSON refuses; a pair that stays a list."""
    assert repr(from_plain(Outer, through_json(to_plain(value)), "value")) == repr(value)


def test_what_is_no_number_comes_back_too():
    plain = to_plain(Inner(many=(np.nan, -np.inf, np.inf, -0.0)))
    assert plain["many"] == ["nan", "-inf", "inf", 0.0]
    assert repr(from_plain(Inner, through_json(plain), "value").many) == "(nan, -inf, inf, -0.0)"


@given(settings)
def test_settings_come_back(chosen):
    """Broken: a field that is left out, or a strategy that forgets an argument."""
    back = settings_from_plain(through_json(settings_to_plain(chosen)))
    assert back == chosen
    assert repr(back) == repr(chosen), "kinds of numbers, too"
    assert hash(back) == hash(chosen)
    assert back.swaps.recipe == chosen.swaps.recipe
    np.testing.assert_array_equal(back.swaps.parameters, chosen.swaps.parameters)
    assert back.swaps.attempts(7) == chosen.swaps.attempts(7)


def test_numbers_of_numpy_are_numbers():
    chosen = tp.Settings(
        adaptation=tp.Adaptation(coordinate_every=np.int64(3), average=np.bool_(False)),
        trimming=tp.Trimming(slack=np.float32(0.25)),
        bounds=tp.Bounds(scale=[np.float64(0.5), 2]),
        swaps=tp.swaps.energy_rings(np.array([-3, 4], dtype=np.int16), repeats=np.int8(2)),
    )
    back = settings_from_plain(through_json(settings_to_plain(chosen)))
    assert back == chosen
    assert back.bounds.scale == (0.5, 2.0)
    assert back.swaps.parameters.tolist() == [-3.0, 4.0]


def test_whole_numbers_where_numbers_are_meant_are_the_same_settings():
    chosen = tp.Settings(adaptation=tp.Adaptation(gain=tp.Gain(scale=2, exponent=1)))
    assert settings_from_plain(through_json(settings_to_plain(chosen))) == chosen


@given(settings, st.lists(positive, max_size=4, unique=True), st.integers(1, 50), st.booleans())
def test_a_plan_comes_back(chosen, gaps, dim, keeps_levels):
    """Broken: betas rounded on the way, or a field that is left out."""
    betas = np.unique(1.0 / (1.0 + np.array([0.0, *gaps])))[::-1]
    plan = make_plan(
        TARGET,
        betas[betas > 1e-308],  # whose temperatures are numbers
        dim,
        settings=chosen,
        strategy=chosen.swaps,
        thin=dim,
        keep=("draws", "levels") if keeps_levels else ("draws", "statistics"),
    )
    back = plan_from_plain(through_json(plan_to_plain(plan)), TARGET)
    np.testing.assert_array_equal(back.betas, plan.betas)
    same = {name: value for name, value in vars(plan).items() if name != "betas"}
    assert {name: value for name, value in vars(back).items() if name != "betas"} == same


@given(seeds)
def test_a_seed_comes_back(seed):
    """Broken: a spawn key or the size of the pool forgotten."""
    back = seed_from_plain(through_json(seed_to_plain(seed)))
    assert repr(back) == repr(seed)
    chains = len(seed) if isinstance(seed, list) else 2
    for one, other in zip(chain_seeds(seed, chains), chain_seeds(back, chains), strict=True):
        np.testing.assert_array_equal(one.generate_state(8), other.generate_state(8))


def test_entropy_of_any_kind_that_numpy_takes_comes_back():
    for entropy in ([[1, 2], "0xff"], np.arange(3, dtype=np.uint32), range(3), (2**40,)):
        sequence = np.random.SeedSequence(entropy)
        back = seed_from_plain(through_json(seed_to_plain(sequence)))
        np.testing.assert_array_equal(back.generate_state(8), sequence.generate_state(8))


# ---- strategies


def test_every_strategy_knows_how_it_was_made():
    """Broken: a function that makes strategies and is not registered."""
    public = set(tp.swaps.__all__) - {"Strategy", "Verdict", "check"}
    assert set(FACTORIES) == public
    for name in public - {"custom"}:
        made = getattr(tp.swaps, name)()
        assert made == getattr(tp.swaps, name)()
        assert strategy_to_plain(made)["made_by"] == name


def test_strategies_are_equal_by_their_arguments():
    assert tp.swaps.energy_rings(5) != tp.swaps.energy_rings(6)
    assert tp.swaps.energy_rings([1, 2]) == tp.swaps.energy_rings(np.array([1.0, 2.0]))
    assert tp.swaps.custom(my_weight) == tp.swaps.custom(my_weight)
    assert tp.swaps.custom(my_weight) != tp.swaps.custom(my_weight, log=True)
    assert tp.swaps.uphill() != tp.swaps.uniform()
    assert tp.swaps.uphill() != "uphill"
    by_hand = replace(tp.swaps.uphill(), symmetric=True)
    assert by_hand.recipe is None, "what is changed by hand is no longer what it was"
    assert by_hand == by_hand
    assert by_hand != tp.swaps.uphill()
    assert len({by_hand, tp.swaps.uphill(), tp.swaps.uphill()}) == 2


@pytest.mark.parametrize(
    ("strategy", "name", "call"),
    [
        (
            tp.swaps.custom(my_weight, repeats=2),
            "my_weight",
            "custom(weight=my_weight, log=False, repeats=2)",
        ),
        (tp.swaps.big_jumps(metric=my_metric), "big jumps", "big_jumps(metric=my_metric, repeats=1)"),
        (replace(tp.swaps.uphill(), name="mine"), "mine", "Strategy(name='mine', ...)"),
    ],
    ids=["weight", "metric", "by hand"],
)
def test_a_users_own_strategy_goes_by_name_and_is_given_again(strategy, name, call):
    """Broken: a weight that is silently replaced by another strategy."""
    plain = through_json(settings_to_plain(tp.Settings(swaps=strategy)))
    assert plain["swaps"]["name"] == name
    with pytest.raises(tp.InvalidInputError) as caught:
        settings_from_plain(plain)
    assert f"settings.swaps: {name!r} has a function of yours in it" in str(caught.value)
    assert f"give swaps={call} again" in str(caught.value)
    assert settings_from_plain(plain, swaps=strategy).swaps is strategy
    with pytest.raises(tp.InvalidInputError) as caught:
        settings_from_plain(plain, swaps=tp.swaps.equi_energy())
    assert f"settings.swaps must be the strategy {call}, got equi_energy(repeats=1)" in str(caught.value)


def test_a_given_strategy_must_be_the_one_that_was_stored():
    plain = strategy_to_plain(tp.swaps.energy_rings([1, 2]))
    with pytest.raises(tp.InvalidInputError, match=r"edges=\[1, 2\], repeats=1\), got .*edges=\[1, 3\]"):
        strategy_from_plain(plain, tp.swaps.energy_rings([1, 3]), "swaps")
    with pytest.raises(tp.InvalidTypeError, match=r"swaps must be the strategy energy_rings.*, got str"):
        strategy_from_plain(plain, "energy_rings", "swaps")


# ---- what does not fit is named


def changed(plain, path, value):
    """A copy with one key set, or left out."""
    copy = through_json(plain)
    *inner, last = path.split(".")
    place = copy
    for key in inner:
        place = place[key]
    if value is Ellipsis:
        del place[last]
    else:
        place[last] = value
    return copy


def test_a_move_of_ones_own_goes_by_its_name_and_is_given_again():
    mine = tp.moves.Move(name="mine", advance=tp.moves.metropolis, shape=tp.moves.STEP)
    chosen = tp.Settings(adaptation=tp.Adaptation(walk=mine, coordinate_every=3))
    plain = through_json(settings_to_plain(chosen))
    assert plain["adaptation"]["walk"] == "mine"
    assert settings_from_plain(plain, walk=mine) == chosen
    with pytest.raises(tp.InvalidInputError, match=r"settings.adaptation.walk is 'mine', a move of yours"):
        settings_from_plain(plain)
    other = tp.moves.Move(name="other", advance=tp.moves.metropolis)
    with pytest.raises(tp.InvalidInputError, match="walk must be the move 'mine', got 'other'"):
        settings_from_plain(plain, walk=other)
    with pytest.raises(tp.InvalidInputError, match=r"walk must be left out, as .* is 'robust'; got 'mine'"):
        settings_from_plain(through_json(settings_to_plain(tp.Settings())), walk=mine)


SETTINGS = settings_to_plain(tp.Settings(swaps=tp.swaps.equi_energy()))
MISFITS = {
    "format": (4, "settings.format must be 3, got 4: a newer temperance wrote it"),
    "format ": ("1", "settings.format must be of kind int, got str: '1'"),
    "format  ": (..., "settings.format is missing"),
    "jumps": (..., "settings.jumps is missing"),
    "swaps": (..., "settings.swaps is missing"),
    "more": (1, "settings.more is unknown; known are adaptation, trimming"),
    "adaptation": ([], "settings.adaptation must be of kind dict, got list"),
    "adaptation.gain": (..., "settings.adaptation.gain is missing"),
    "adaptation.gain ": (None, "settings.adaptation.gain must be of kind dict, got NoneType"),
    "adaptation.gain.exponent": (3.0, "settings.adaptation.gain: exponent must lie in (0.5, 1], got 3"),
    "adaptation.gain.scale": ("much", "settings.adaptation.gain.scale must be a number or 'inf'"),
    "adaptation.gain.delay": (True, "settings.adaptation.gain.delay must be a number or 'inf'"),
    "adaptation.gain.delay_per_dim": (10**400, "delay_per_dim must be a number that a float can hold"),
    "adaptation.gain.speed": (1.0, "settings.adaptation.gain.speed is unknown; known are exponent"),
    "adaptation.walk": ("hop", "settings.adaptation.walk is 'hop', a move of yours, which is not stored"),
    "adaptation.average": (1, "settings.adaptation.average must be of kind bool, got int: 1"),
    "adaptation.coordinate_every": (
        2.0,
        "adaptation.coordinate_every must be of kind int, got float",
    ),
    "trimming.every": (True, "settings.trimming.every must be of kind int, got bool"),
    "trimming.threshold": ("asymptotic", "settings: threshold='asymptotic' is right for walk_acceptance"),
    "bounds.scale": ([1.0], "settings.bounds.scale must have 2 members, got 1"),
    "bounds.scale ": ([1.0, None], "settings.bounds.scale[1] must be a number"),
    "bounds.variance": ([2.0, 1.0], "settings.bounds: variance must satisfy 0 < low < high"),
    "swaps ": ("equi-energy", "settings.swaps must be of kind dict, got str"),
    "swaps.made_by": ("deo", "settings.swaps.made_by must be one of 'adjacent', 'big_jumps'"),
    "swaps.name": ("uphill", "settings.swaps must be the strategy equi_energy(repeats=1)"),
    "swaps.arguments": ([], "settings.swaps.arguments must be of kind dict, got list"),
    "swaps.arguments.repeats": (..., "settings.swaps.arguments.repeats is missing"),
    "swaps.arguments.repeats ": (0, "repeats must be at least 1, got 0"),
    "swaps.arguments.edges": (5, "settings.swaps.arguments.edges is unknown; known are repeats"),
}


@pytest.mark.parametrize("path", MISFITS)
def test_settings_that_do_not_fit_are_refused_by_key(path):
    value, message = MISFITS[path]
    with pytest.raises(tp.TemperanceError) as caught:
        settings_from_plain(changed(SETTINGS, path.strip(), value))
    assert message in str(caught.value)


PLAN = plan_to_plain(make_plan(TARGET, [1.0, 0.5], 2, tune=3, draws=5))
PLAN_MISFITS = {
    "format": (7, "plan.format must be 3, got 7: a newer temperance wrote it"),
    "format ": (0, "plan.format must be 3, got 0: it is older than any release"),
    "betas": (..., "plan.betas is missing"),
    "betas ": ([], "plan.betas must decrease from 1"),
    "betas  ": ([1.0, 2.0], "plan.betas must decrease from 1 strictly; got [1.0, 2.0]"),
    "betas   ": ([1.0, 0.0], "plan.betas may reach beta = 0 only when the target has a log_prior"),
    "dim": (0, "plan.dim must be at least 1, got 0"),
    "draws": (1.5, "plan.draws must be a whole number, got float"),
    "tune": (-1, "plan.tune must be at least 0, got -1"),
    "keep": (["levels"], "plan.keep must have 'draws' among what is kept, got ['levels']"),
    "keep ": ("all", "plan.keep must be"),
    "thin": (0, "plan.thin must be at least 1, got 0"),
    "has_prior": (True, "plan: the run was made with log_likelihood and log_prior, got log_density"),
    "settings.jumps": (..., "plan.settings.jumps is missing"),
    "chains": (0, "plan.chains must be at least 1, got 0"),
    "cores": (4, "plan.cores is unknown; known are betas, dim"),
}


@pytest.mark.parametrize("path", PLAN_MISFITS)
def test_a_plan_that_does_not_fit_is_refused_by_key(path):
    value, message = PLAN_MISFITS[path]
    with pytest.raises(tp.TemperanceError) as caught:
        plan_from_plain(changed(PLAN, path.strip(), value), TARGET)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (None, "seed must be of kind int, got NoneType"),
        (1.5, "seed must be of kind int, got float"),
        ([1, "2"], r"seed\[1\] must be of kind int, got str"),
        ({"entropy": 1, "spawn_key": []}, "seed.pool_size is missing"),
        ({"entropy": 1, "spawn_key": [], "pool_size": 4, "bits": 1}, "seed.bits is unknown"),
        ({"entropy": None, "spawn_key": [], "pool_size": 4}, "seed must be a SeedSequence, got .*None"),
        ({"entropy": 1.5, "spawn_key": [], "pool_size": 4}, "seed must be a SeedSequence, got .*1.5"),
        ({"entropy": -1, "spawn_key": [], "pool_size": 4}, "seed must be a SeedSequence, got .*-1"),
        ({"entropy": 1, "spawn_key": [], "pool_size": 1}, "seed must be a SeedSequence, got .*pool_size"),
    ],
)
def test_a_seed_that_is_none_is_refused(plain, message):
    """Broken: an entropy of None, which would be another seed each time."""
    with pytest.raises(tp.TemperanceError, match=message):
        seed_from_plain(plain)


def test_what_is_not_plain_is_not_stored():
    with pytest.raises(tp.InvalidTypeError, match="function cannot be stored as a plain value"):
        to_plain({"weight": my_weight})
