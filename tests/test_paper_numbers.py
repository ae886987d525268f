"""The paper's numbers: estimates over runs, their distance from print, tables of both, measures of a run."""

import csv
import io
import itertools
import math
import re
import statistics
import zlib
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import temperance as tp
from judge import FALSE_ALARM, Verdict
from temperance.core.state import Trace
from temperance.errors import InvalidInputError
from temperance.paper import estimates
from temperance.paper.estimates import (
    Estimate,
    last_digit,
    mean,
    percentage,
    printed_count,
    rmse,
    rmse_ratio,
    spread,
    z_score,
)
from temperance.paper.experiments import BRIDGE, BRIDGE_FROM_ZERO, STUDIES
from temperance.paper.figures import FIGURES
from temperance.paper.measure import Span, bridge_measures, ladder_measures, mode_measures
from temperance.paper.printed import EXACT, TABLES
from temperance.paper.study import NOT_PRINTED, Block, Cell, Column, Row, Table
from temperance.paper.tables import as_csv, as_markdown, as_text, compare, far_line
from temperance.runs.record import ChainRecord
from temperance.zoo import regression

# Estimates


def rmse_twin(values, exact):
    return math.sqrt(sum((value - exact) ** 2 for value in values) / len(values))


def test_estimates_of_four_runs_worked_by_hand():
    first, second = {"x": np.array([1.0, 2.0, 3.0, 6.0])}, {"x": np.array([1.0, 3.0, 1.0, 3.0])}
    found = mean("x")([first])
    assert (found.value, found.n_runs, found.count) == (3.0, 4, None)
    assert found.error == pytest.approx(math.sqrt(14 / 3 / 4))
    assert spread("x")([first]).value == pytest.approx(math.sqrt(14 / 3))
    assert rmse("x", 2.0)([first]).value == pytest.approx(math.sqrt(18 / 4))
    assert rmse_ratio("x", 2.0)([first, second]).value == pytest.approx(math.sqrt(18 / 4))
    found = percentage("x", 6.0)([first])
    assert (found.value, found.n_runs, found.count) == (25.0, 4, 1)
    assert found.error == pytest.approx(100.0 * math.sqrt(0.25 * 0.75 / 4))


def test_estimates_agree_with_naive_twins(rng):
    for n in (2, 3, 17, 100):
        above, below = rng.gamma(2.0, 3.0, size=(2, n)).round(1)
        assert mean("x")([{"x": above}]).value == pytest.approx(statistics.fmean(above))
        error = statistics.stdev(above) / math.sqrt(n)
        assert mean("x")([{"x": above}]).error == pytest.approx(error)
        assert spread("x")([{"x": above}]).value == pytest.approx(statistics.stdev(above))
        assert rmse("x", 5.5)([{"x": above}]).value == pytest.approx(rmse_twin(above, 5.5))
        ratio = rmse_ratio("x", 5.5)([{"x": above}, {"x": below}])
        assert ratio.value == pytest.approx(rmse_twin(above, 5.5) / rmse_twin(below, 5.5))
        count = sum(value == above[0] for value in above)
        assert percentage("x", above[0])([{"x": above}]).value == pytest.approx(100.0 * count / n)


def rmse_error(values, exact):
    """Of the root of a mean of squares, by the delta method."""
    squares = (values - exact) ** 2
    return squares.std(ddof=1) / math.sqrt(len(values)) / (2.0 * math.sqrt(squares.mean()))


def spread_error(values):
    """Of a standard deviation, by the delta method from the fourth moment."""
    centred = values - values.mean()
    variance, fourth = (centred**2).mean(), (centred**4).mean()
    return math.sqrt((fourth - variance**2) / len(values)) / (2.0 * math.sqrt(variance))


# The standard deviation of 2,000 resamples is itself known to 1/√(2·2000) = 1.6 %; five of those, and
# what the delta method leaves out, which is of the order 1/n.
AS_RESAMPLED = 0.08
LARGE = 1_000


@pytest.mark.parametrize("law", ["normal", "gamma"])
def test_errors_by_resampling_agree_with_the_delta_method(law, rng):
    draw = rng.normal if law == "normal" else rng.gamma
    above, below = draw(2.0, 1.5, size=LARGE), draw(2.0, 0.5, size=LARGE // 2)
    exact = 1.7
    assert spread("x")([{"x": above}]).error == pytest.approx(spread_error(above), rel=AS_RESAMPLED)
    assert rmse("x", exact)([{"x": above}]).error == pytest.approx(rmse_error(above, exact), rel=AS_RESAMPLED)
    ratio = rmse_ratio("x", exact)([{"x": above}, {"x": below}])
    parts = [rmse_error(values, exact) / rmse_twin(values, exact) for values in (above, below)]
    assert ratio.error == pytest.approx(ratio.value * math.hypot(*parts), rel=AS_RESAMPLED)
    assert ratio.n_runs == len(below)


def test_the_cells_of_a_ratio_are_resampled_each_for_itself(rng):
    """Two cells that chance to hold the same numbers: resampled in pairs their ratio would have no error."""
    values = rng.normal(size=LARGE)
    cells = [{"x": values}, {"x": values.copy()}]
    independent = math.sqrt(2.0) * rmse_error(values, 0.0) / rmse_twin(values, 0.0)
    assert rmse_ratio("x", 0.0)(cells).error == pytest.approx(independent, rel=AS_RESAMPLED)
    generators = [np.random.default_rng(0), np.random.default_rng(0)]
    pairs = [estimates._resample(values**2, generator).mean(axis=1) for generator in generators]
    assert np.sqrt(pairs[0] / pairs[1]).std() == 0.0


def test_errors_by_resampling_are_the_same_each_time(rng):
    cells = [{"x": rng.normal(size=30)}, {"x": rng.normal(size=40)}]
    for estimator, n in ((rmse("x", 0.1), 1), (spread("x"), 1), (rmse_ratio("x", 0.1), 2)):
        assert estimator(cells[:n]) == estimator(cells[:n])


# Distance from print


@pytest.mark.parametrize(
    ("printed", "unit"),
    [("0.36", 0.01), ("16", 1.0), ("0.0031", 0.0001), ("723", 1.0), ("1.00", 0.01), ("0.3", 0.1)],
)
def test_unit_of_the_last_digit(printed, unit):
    assert last_digit(printed) == pytest.approx(unit, rel=1e-12)


# By hand: variance = error² (1 + n/published) + unit²/12.
BY_HAND = [
    ("0.36", 500, 0.40, 0.02, 500, 0.04 / math.sqrt(0.0008 + 0.0001 / 12)),
    ("16", 98, 15.5, 0.3, 100, -0.970974),
    ("0.0031", 100, 0.0029, 0.0002, 100, -0.703453),
    ("723", 100, 720.0, 0.25, 40, -7.258294),
    ("1.00", 100, 1.0, 0.1, 25, 0.0),
    ("16", 98, 17.0, 0.0, 100, math.sqrt(12.0)),
]


@pytest.mark.parametrize(("printed", "published", "value", "error", "n", "z"), BY_HAND)
def test_z_worked_by_hand(printed, published, value, error, n, z):
    ours = Estimate(value=value, error=error, n_runs=n)
    assert z_score(ours, printed, published) == pytest.approx(z, rel=1e-5, abs=1e-12)


def fisher_twin(a, n, b, m):
    """Two-sided p: the chance, given the margins, of a table no more probable than the one seen."""
    chances = {
        k: Fraction(math.comb(n, k) * math.comb(m, a + b - k), math.comb(n + m, a + b))
        for k in range(max(0, a + b - m), min(n, a + b) + 1)
    }
    return float(sum(chance for chance in chances.values() if chance <= chances[a]))


def counted_estimate(count, n):
    return Estimate(value=100.0 * count / n, error=0.0, n_runs=n, count=count)


def test_percentages_agree_with_the_enumerated_law():
    n, published = 12, 20
    signs = set()
    for ours, theirs in itertools.product(range(n + 1), range(published + 1)):
        z = z_score(counted_estimate(ours, n), f"{5 * theirs}", published)
        p = fisher_twin(ours, n, theirs, published)
        signs.add(np.sign(z))
        assert abs(z) == pytest.approx(-statistics.NormalDist().inv_cdf(p / 2.0), abs=1e-8)
        assert z * (ours / n - theirs / published) >= 0.0
    assert signs == {-1.0, 0.0, 1.0}


@pytest.mark.parametrize(
    ("count", "n", "printed", "published"), [(0, 10, "0", 98), (50, 50, "100", 500), (7, 14, "50", 100)]
)
def test_the_same_percentage_is_at_no_distance(count, n, printed, published):
    assert z_score(counted_estimate(count, n), printed, published) == 0.0


@pytest.mark.parametrize(
    ("printed", "published", "count"),
    [("62.8", 500, 314), ("17.3", 98, 17), ("3.06", 98, 3), ("5.1", 98, 5), ("100", 500, 500), ("0", 98, 0)],
)
def test_count_behind_a_percentage(printed, published, count):
    assert printed_count(printed, published) == count


@pytest.mark.parametrize(("printed", "published"), [("62.9", 500), ("5.0", 98), ("12.5", 100), ("85.3", 100)])
def test_an_impossible_percentage_is_refused(printed, published):
    with pytest.raises(InvalidInputError, match=f"{printed} % is no percentage of {published} runs"):
        printed_count(printed, published)


def accepted(printed, published):
    try:
        return printed_count(printed, published)
    except InvalidInputError:
        return None


@pytest.mark.parametrize("published", [98, 100, 500])
def test_a_percentage_is_accepted_if_a_count_prints_so(published):
    prints = {f"{100.0 * count / published:.1f}": count for count in range(published + 1)}
    for tenths in range(1_001):
        printed = f"{tenths / 10.0:.1f}"
        assert accepted(printed, published) == prints.get(printed)


@pytest.mark.parametrize("printed", ["150", "-1"])
def test_a_percentage_lies_between_0_and_100(printed):
    assert accepted(printed, 100) is None


# Calibration: two samples of one law lie beyond |z| = 2 as often as a normal variable does.

NOMINAL = 2.0 * stats.norm.sf(2.0)
# With 200 runs an error is itself an estimate, which adds 1.5 % at most (for spreads); a rounding error
# has no tails, which takes 1 % off. A rate outside is a fault, and one of 12 % is sure to be seen.
ABOUT_NOMINAL = (NOMINAL - 0.01, NOMINAL + 0.02)
VISIBLE_RATE = 0.12
N_OURS, N_PUBLISHED, REPEATS = 200, 100, 1_500


def judge_rate(far):
    """Is this about the nominal rate? Exact binomial, false alarm 1e-4; no pass without 0.99 of power."""
    n, count = len(far), int(np.sum(far))
    lowest, highest = ABOUT_NOMINAL
    limit = stats.binom.isf(FALSE_ALARM / 2.0, n, highest)
    power = stats.binom.sf(limit, n, VISIBLE_RATE)
    detail = f"rate {count / n:.4f} of {n}, power {power:.4f}"
    if power < 0.99:
        return Verdict(False, f"no power: {detail}")
    return Verdict(bool(stats.binom.ppf(FALSE_ALARM / 2.0, n, lowest) <= count <= limit), detail)


def mean_twin(cells):
    return float(np.mean(cells[0]))


def spread_twin(cells):
    return float(np.std(cells[0], ddof=1))


@dataclass(frozen=True)
class Quantity:
    """An estimator, its naive value, and one law for both sides.

    The true value is uniform on a unit interval, so that rounding to whole numbers is uniform as well;
    ``coarse`` makes the error of ours and theirs about as large as that of the rounding.
    """

    estimator: object
    value: object
    draw: object


CALIBRATED = {
    "mean": Quantity(
        mean("x"), mean_twin, lambda rng, truth, n: [rng.normal(truth, 2.4, size=n)]
    ),
    "rmse": Quantity(
        rmse("x", 1.0),
        lambda cells: rmse_twin(cells[0], 1.0),
        lambda rng, truth, n: [rng.normal(1.0, 3.0 + truth, size=n)],
    ),
    "rmse_ratio": Quantity(
        rmse_ratio("x", 1.0),
        lambda cells: rmse_twin(cells[0], 1.0) / rmse_twin(cells[1], 1.0),
        lambda rng, truth, n: [rng.normal(1.0, 2.0 + truth, size=n), rng.normal(1.0, 1.0, size=n)],
    ),
    "spread": Quantity(
        spread("x"), spread_twin, lambda rng, truth, n: [rng.normal(-5.0, 3.0 + truth, size=n)]
    ),
}  # fmt: skip


def pairs_of_one_law(quantity, rng, decimals):
    """Ours and a figure as it would be printed, again and again."""
    pairs = []
    for truth in rng.random(REPEATS):
        ours, theirs = (quantity.draw(rng, truth, n) for n in (N_OURS, N_PUBLISHED))
        found = quantity.estimator([{"x": values} for values in ours])
        pairs.append((found, f"{quantity.value(theirs):.{decimals}f}"))
    return pairs


def without_published_error(ours, printed, n_published):
    return (ours.value - float(printed)) / math.hypot(ours.error, last_digit(printed) / math.sqrt(12.0))


def without_rounding(ours, printed, n_published):
    return (ours.value - float(printed)) / (ours.error * math.sqrt(1.0 + ours.n_runs / n_published))


def far(pairs, score):
    return [abs(score(ours, printed, N_PUBLISHED)) > 2.0 for ours, printed in pairs]


@pytest.mark.parametrize(
    ("decimals", "broken"), [(3, without_published_error), (0, without_rounding)], ids=["fine", "coarse"]
)
@pytest.mark.parametrize("name", CALIBRATED)
def test_z_is_calibrated(name, decimals, broken, rng, monkeypatch):
    monkeypatch.setattr(estimates, "N_RESAMPLES", 200)  # errors known to 5 %, which moves the rate by 0.1 %
    pairs = pairs_of_one_law(CALIBRATED[name], rng, decimals)
    verdict = judge_rate(far(pairs, z_score))
    assert verdict.passed, verdict.detail
    assert not judge_rate(far(pairs, broken)).passed


def test_the_judge_of_rates_refuses_to_pass_without_power():
    assert "no power" in judge_rate(np.zeros(50)).detail


def pooled_z(ours, printed, n_published):
    """The usual normal approximation, which errs by more than it says for small counts."""
    theirs = printed_count(printed, n_published)
    share = (ours.count + theirs) / (ours.n_runs + n_published)
    variance = share * (1.0 - share) * (1.0 / ours.n_runs + 1.0 / n_published)
    difference = ours.count / ours.n_runs - theirs / n_published
    return difference / math.sqrt(variance) if variance else 0.0


def largest_rate(score, n=20, published=25):
    """The exact chance of |z| > 2 for two samples of one law, at its worst over the law."""
    counts, theirs = np.arange(n + 1), np.arange(published + 1)
    beyond = [
        [abs(score(counted_estimate(int(a), n), f"{4 * int(b)}", published)) > 2.0 for b in theirs]
        for a in counts
    ]
    shares = np.linspace(0.01, 0.99, 99)
    rates = [
        stats.binom.pmf(counts, n, share) @ np.array(beyond) @ stats.binom.pmf(theirs, published, share)
        for share in shares
    ]
    return max(rates)


def test_percentages_are_far_no_more_often_than_they_say():
    assert largest_rate(z_score) <= NOMINAL
    assert largest_rate(pooled_z) > NOMINAL


# Tables

ONE, TWO = Cell("hand", "EE", 2), Cell("hand", "AL", 2)
HAND_RUNS = {
    ONE: {"x": np.array([1.0, 2.0, 3.0, 6.0]), "missing": np.array([0.0, 0.0, 1.0, 0.0])},
    TWO: {"x": np.array([1.0, 3.0, 1.0, 3.0]), "missing": np.array([1.0, 2.0, 0.0, 1.0])},
}
HAND = Table(
    name="hand",
    title="A table by hand",
    blocks=(
        Block(
            title="means, as printed",
            columns=(Column(label="L=2 EE", cells=(ONE,)), Column(label="L=2 AL", cells=(TWO,))),
            rows=(
                Row(label="x", estimator=mean("x"), printed="3.01  16"),
                Row(label="none missing (%)", estimator=percentage("missing", 0.0), printed="75 -"),
            ),
            n_published=4,
        ),
        Block(
            title="ratios",
            columns=(Column(label="EE/AL", cells=(ONE, TWO)),),
            rows=(Row(label="x", estimator=rmse_ratio("x", 2.0), printed="-"),),
            n_published=4,
        ),
    ),
)


@pytest.fixture
def compared():
    return compare(HAND, HAND_RUNS.__getitem__)


def test_every_number_of_a_table(compared):
    means, ratios = compared.blocks
    (near, distant), (percent, unprinted) = means.rows
    assert (near.row, near.column, near.printed) == ("x", "L=2 EE", "3.01")
    assert near.ours.value == 3.0
    assert near.z == pytest.approx(-0.01 / math.sqrt(14 / 3 / 4 * 2 + 1e-4 / 12))
    assert distant.ours.value == 2.0
    assert distant.z == pytest.approx(-14.0 / math.sqrt(4 / 3 / 4 * 2 + 1 / 12))
    assert (percent.ours.value, percent.printed, percent.z) == (75.0, "75", 0.0)
    assert (unprinted.ours.value, unprinted.printed, unprinted.z) == (25.0, None, None)
    ((ratio,),) = ratios.rows
    assert ratio.ours.value == pytest.approx(math.sqrt(18 / 4))
    assert ratio.z is None
    assert [cell.is_far for cell in means.comparisons] == [False, True, False, False]


def test_far_figures_are_counted_beside_what_chance_would_give(compared):
    means, ratios = compared.blocks
    assert far_line(means) == (
        "1 of 3 beyond |z| = 2; chance alone would give about 0.1, and more with only 4 runs"
    )
    assert far_line(ratios) == "0 of 0 beyond |z| = 2; chance alone would give about 0.0"
    runs = [replace(cell, ours=replace(cell.ours, n_runs=40)) for cell in means.comparisons]
    many = replace(means, rows=(tuple(runs),) * 10)
    assert far_line(many) == "10 of 30 beyond |z| = 2; chance alone would give about 1.4"


def test_exactly_two_is_not_far(compared):
    cell = compared.blocks[0].comparisons[0]
    assert not replace(cell, z=-2.0).is_far
    assert replace(cell, z=-2.0001).is_far


def test_text_of_a_table(compared):
    parts = as_text(compared).split("\n\n")
    assert parts[0] == "hand: A table by hand"
    assert parts[1] == "means, as printed"
    assert parts[2] == (
        "                          ours     ±  printed      z\n"
        "L=2 EE  x                  3.0   1.1     3.01    0.0\n"
        "L=2 AL  x                 2.00  0.58       16  −16.2\n"
        "L=2 EE  none missing (%)  75.0  21.7       75    0.0\n"
        "L=2 AL  none missing (%)  25.0  21.7                "
    )
    assert parts[3] == far_line(compared.blocks[0])
    assert parts[4] == "ratios"
    assert len(parts) == 7


def test_markdown_of_a_table(compared):
    parts = as_markdown(compared).split("\n\n")
    assert parts[0] == "*means, as printed*"
    assert parts[1].split("\n") == [
        "|  | L=2 EE | L=2 AL |",
        "|---|---|---|",
        "| x | 3.0 ± 1.1<br>*3.01*<br>z 0.0 | 2.00 ± 0.58<br>*16*<br>**z −16.2** |",
        "| none missing (%) | 75.0 ± 21.7<br>*75*<br>z 0.0 | 25.0 ± 21.7 |",
    ]
    assert parts[2] == f"{far_line(compared.blocks[0])}."
    assert parts[3] == "*ratios*"


def test_csv_of_a_table(compared):
    rows = list(csv.DictReader(io.StringIO(as_csv(compared))))
    assert list(rows[0]) == ["block", "row", "column", "ours", "error", "runs", "printed", "z"]
    assert [(row["block"], row["row"], row["column"]) for row in rows] == [
        ("means, as printed", "x", "L=2 EE"),
        ("means, as printed", "x", "L=2 AL"),
        ("means, as printed", "none missing (%)", "L=2 EE"),
        ("means, as printed", "none missing (%)", "L=2 AL"),
        ("ratios", "x", "EE/AL"),
    ]
    flat = [cell for block in compared.blocks for cell in block.comparisons]
    for row, cell in zip(rows, flat, strict=True):
        assert float(row["ours"]) == pytest.approx(cell.ours.value, rel=1e-5)
        assert float(row["error"]) == pytest.approx(cell.ours.error, rel=5e-3)
        assert int(row["runs"]) == cell.ours.n_runs
        assert row["printed"] == (cell.printed or "")
        assert row["z"] == "" if cell.z is None else abs(float(row["z"]) - cell.z) < 5e-4


def one_figure(**changes):
    """A table of a single figure, with these fields of it set by hand."""
    block = replace(HAND.blocks[0], columns=HAND.blocks[0].columns[:1])
    block = replace(block, rows=(replace(block.rows[0], printed="3.01"),))
    table = compare(replace(HAND, blocks=(block,)), HAND_RUNS.__getitem__)
    ours = {name: changes.pop(name) for name in ("value", "error") if name in changes}
    ((cell,),) = table.blocks[0].rows
    cell = replace(cell, ours=replace(cell.ours, **ours), **changes)
    return replace(table, blocks=(replace(table.blocks[0], rows=((cell,),)),))


@pytest.mark.parametrize(
    ("z", "shown"),
    [
        (-0.0, "0.0"),
        (-0.049, "0.0"),
        (0.049, "0.0"),
        (-0.051, "−0.1"),
        (1.96, "+2.0"),
        (-12.34, "−12.3"),
    ],
)
def test_z_as_shown(z, shown):
    table = one_figure(z=z)
    assert as_text(table).split("\n\n")[2].split()[-1] == shown
    assert f"z {shown}" in as_markdown(table)


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (723.456, 0.2349, ["723.46", "0.23"]),
        (0.0031, 0.000234, ["0.00310", "0.00023"]),
        (16.0, 0.0961, ["16.00", "0.10"]),
        (19.9, 9.7, ["20", "10"]),
        (16.0, 0.0, ["16", "0"]),
        (8.3, 1e-9, ["8.300000", "0.000000"]),
    ],
)
def test_error_has_two_digits_and_the_value_ends_where_it_does(value, error, shown):
    assert as_text(one_figure(value=value, error=error)).split("\n\n")[2].split()[-4:-2] == shown


@pytest.mark.parametrize(
    ("changes", "misprint"),
    [
        ({"value": -0.004, "error": 0.1}, "-0.00 "),
        ({"z": -0.0}, "-0.000"),
        ({"value": 1.7, "error": 0.0}, " 2  0 "),
    ],
    ids=["a value of minus zero", "a z of minus zero in the CSV", "a value cut to its error of zero"],
)
def test_misprints(changes, misprint):
    table = one_figure(**changes)
    for text in (as_text(table), as_csv(table)):
        assert misprint not in re.sub(" +", lambda gap: gap[0][:2], text)


def test_a_row_must_have_a_figure_for_every_column():
    for printed in ("3.01", "3.01 16 5"):
        block = replace(HAND.blocks[0], rows=(replace(HAND.blocks[0].rows[0], printed=printed),))
        with pytest.raises(ValueError, match="zip"):
            compare(replace(HAND, blocks=(block,)), HAND_RUNS.__getitem__)


def test_cells_of_a_table_are_named_once():
    assert HAND.cells == [ONE, TWO]


# The paper's tables

BLOCKS = [(table.name, block) for table in TABLES.values() for block in table.blocks]
each_block = pytest.mark.parametrize(
    "block", [block for _, block in BLOCKS], ids=[name for name, _ in BLOCKS]
)
ALL_CELLS = [cell for item in (*TABLES.values(), *FIGURES.values()) for cell in item.cells]


@each_block
def test_every_row_has_a_figure_for_every_column(block):
    for row in block.rows:
        assert len(row.printed_cells) == len(block.columns)
        for printed in row.printed_cells:
            assert printed == NOT_PRINTED or re.fullmatch(r"\d+(\.\d+)?", printed)


@each_block
def test_every_percentage_is_a_possible_count(block):
    for row in block.rows:
        if "%" not in row.label and not row.label.endswith("levels"):
            continue
        for printed in row.printed_cells:
            if printed != NOT_PRINTED:
                share = 100.0 * printed_count(printed, block.n_published) / block.n_published
                assert abs(share - float(printed)) <= 0.5 * last_digit(printed)
                assert 0.0 <= share <= 100.0


def test_percentages_of_levels_add_up():
    for block in TABLES["trimming"].blocks:
        figures = [[0.0 if p == NOT_PRINTED else float(p) for p in row.printed_cells] for row in block.rows]
        assert np.sum(figures, axis=0).tolist() == [100.0] * len(block.columns)


@pytest.mark.parametrize("name", TABLES)
def test_every_figure_of_a_block_has_a_name_of_its_own(name):
    for block in TABLES[name].blocks:
        names = list(itertools.product([row.label for row in block.rows], [c.label for c in block.columns]))
        assert len(set(names)) == len(names)
    titles = [block.title for block in TABLES[name].blocks]
    assert len(set(titles)) == len(titles)


def test_every_cell_is_an_arm_of_a_study():
    for cell in ALL_CELLS:
        assert (cell.strategy, cell.levels) in STUDIES[cell.study].arms


def test_every_arm_is_in_some_table_or_figure():
    arms = {cell for study in STUDIES.values() for cell in study.cells}
    assert arms == set(ALL_CELLS)


def test_studies_are_known_by_their_name_and_cells_have_seeds_of_their_own():
    assert all(name == study.name for name, study in STUDIES.items())
    names = {cell.name for cell in ALL_CELLS}
    assert len({zlib.crc32(name.encode()) for name in names}) == len(names)


def test_labels_tell_the_levels_and_strategy_of_their_cells():
    for name, block in BLOCKS:
        for column in block.columns:
            arms = [cell.strategy for cell in column.cells]
            if column.label.startswith("L="):
                levels, ratio = column.label.removeprefix("L=").split(" ")
                assert {cell.levels for cell in column.cells} == {int(levels)}
                assert ratio == "/".join(arms)
            else:
                assert column.label.startswith("RWM")
                assert [cell.levels for cell in column.cells] == [1]
            assert name in ("table3", "table5") or len(arms) == 1


def test_ladders_have_as_many_levels_as_the_paper_says():
    levels = {
        name: sorted({cell.levels for cell in table.cells}) for name, table in (TABLES | FIGURES).items()
    }
    assert levels == {
        "table1": [2, 3, 4, 5],
        "table2": [2, 3, 4, 5],
        "table3": [3, 4, 5],
        "table4": [3, 5, 7, 9],
        "table5": list(range(3, 10)),
        "table6": list(range(3, 10)),
        "table7": [1, 9],
        "trimming": [4, 5, 9],
        "figure1": [],
        "figure2": [],
        "figure3": [],
        "figure4": list(range(3, 10)),
        "figure5": [],
        "figure6": [9],
    }
    assert all((cell.levels == 1) == (cell.strategy == "RWM") for cell in ALL_CELLS)


# One figure of each corner of each table, read off the paper once more.
SPOT_CHECKS = {
    "table1": {("E X1", "L=2 EE"): "0.87", ("E X2²", "L=5 EE"): "4.16", ("E X1²", "L=4 EE"): "9.25"},
    "table2": {
        ("no missing mode (%)", "L=2 EE"): "62.8",
        ("no missing mode (%)", "L=5 RA"): "98.8",
        ("occupancy error", "L=4 EE"): "0.3",
        ("occupancy error", "L=5 AL"): "0.38",
    },
    "table3": {("E X1", "L=3 AL/EE"): "1.04", ("E X2", "L=4 RA/EE"): "1.20", ("E X2²", "L=5 RA/EE"): "1.30"},
    "table4": {
        ("no missing mode (%)", "L=7 RA"): "3.06",
        ("missing modes", "L=9 RA"): "5.2",
        ("occupancy error", "L=3 EE"): "1.7",
        ("occupancy error", "L=9 AL"): "0.85",
    },
    "table5": {("E X1", "L=7 RA/EE"): "1.38", ("E X2", "L=3 AL/EE"): "1.01", ("E X2²", "L=9 RA/EE"): "1.55"},
    "table6": {("swaps accepted", "L=3 EE"): "0.38", ("swaps accepted", "L=9 RA"): "0.05"},
    "table7": {("coefficient 3", "L=9 AL"): "724", ("coefficient 9", "RWM from zero"): "0.165"},
    "trimming": {("3 levels", "L=4 EE"): "100", ("3 levels", "L=5 EE"): "100"},
}


@pytest.mark.parametrize("name", SPOT_CHECKS)
def test_printed_figures_at_their_place(name):
    for figure, wanted in SPOT_CHECKS[name].items():
        found = {
            printed
            for block in TABLES[name].blocks
            for row in block.rows
            for column, printed in zip(block.columns, row.printed_cells, strict=True)
            if (row.label, column.label) == figure
        }
        assert found == {wanted}


def test_numbers_of_runs_behind_the_printed_figures():
    behind = {name: {block.n_published for block in TABLES[name].blocks} for name in TABLES}
    assert behind == {
        "table1": {500},
        "table2": {500},
        "table3": {500},
        "table4": {98},
        "table5": {100},
        "table6": {100},
        "table7": {100},
        "trimming": {100},
    }


def test_lengths_are_those_of_the_text():
    for name, study in STUDIES.items():
        length = (study.burn_in, study.draws)
        if "bridge" in name:
            assert length == (20_000, 100_000)
        elif "cylinders" in name:
            assert length in {(5_000, 10_000), (7_500, 7_500)}
            assert study.burn_in == 5_000 or study.trimming.enabled
        else:
            assert length == ((2_500, 5_000) if study.trimming.enabled else (2_500, 7_500))


def test_exact_moments_are_those_of_the_twenty_peaks():
    draws = tp.zoo.twenty_peaks().draw(200_000, seed=1)
    found = [draws[:, 0].mean(), draws[:, 1].mean(), (draws[:, 0] ** 2).mean(), (draws[:, 1] ** 2).mean()]
    assert list(EXACT) == ["x1", "x2", "x1_sq", "x2_sq"]
    assert list(EXACT.values()) == pytest.approx(found, rel=0.01)
    cylinders = tp.zoo.twenty_cylinders()
    assert list(EXACT.values()) == pytest.approx([*cylinders.mean[:2], *cylinders.second_moments[:2]])


# Measures of one run


def hand_record(burn_in, draws, beta=(1.0, 0.5), attempts=None, accepted=None):
    """A record with nothing in it but what measures look at."""
    empty = Trace(*[np.zeros(0)] * len(Trace._fields))
    return ChainRecord(
        tuning=empty._replace(draws=burn_in),
        sampling=empty._replace(
            draws=draws,
            swap_attempts=np.ones(len(draws), dtype=np.uint8) if attempts is None else attempts,
            swap_accepted=np.zeros(len(draws), dtype=np.uint8) if accepted is None else accepted,
        ),
        beta=np.array(beta),
        log_scale=np.zeros(len(beta)),
        mean=np.zeros((len(beta), draws.shape[1])),
        covariance=np.zeros((len(beta), draws.shape[1], draws.shape[1])),
        n_bad_density=0,
        bound_hits=np.zeros(3, dtype=np.int64),
        complete=True,
    )


@pytest.fixture(scope="module")
def measured():
    """The quantities that each study measures, on records of its own length."""
    names = {}
    for study in STUDIES.values():
        problem = study.problem()
        shapes = [(study.burn_in, problem.dim), (study.draws, problem.dim)]
        names[study.name] = set(study.measure(hand_record(*map(np.zeros, shapes)), problem))
    return names


@each_block
def test_studies_measure_what_their_tables_need(block, measured, rng):
    for row, column in itertools.product(block.rows, block.columns):
        runs = [{name: rng.normal(size=5) for name in measured[cell.study]} for cell in column.cells]
        assert math.isfinite(row.estimator(runs).value)


def test_studies_measure_what_the_figures_need(measured):
    for cell in FIGURES["figure4"].cells:
        assert {"x1_10000", "x2_10000", "x1_sq_10000", "x2_sq_10000"} <= measured[cell.study]
    for cell in FIGURES["figure6"].cells:
        assert "n_levels" in measured[cell.study]


PEAKS = tp.zoo.twenty_peaks()
TUNE, DRAWS = 30, 50


@pytest.fixture(scope="module")
def record():
    result = tp.sample(
        PEAKS, temperatures=[1.0, 2.0, 3.0], draws=DRAWS, tune=TUNE,
        chains=1, seed=3, progress=False, settings=tp.paper_settings(trim=False),
    )  # fmt: skip
    return result.chains[0]


def naive_measures(draws):
    counts = [0] * 20
    for draw in draws:
        distances = [math.dist(draw, mode) for mode in PEAKS.modes]
        counts[distances.index(min(distances))] += 1
    shares = [count / len(draws) for count in counts]
    return {
        "x1": sum(draw[0] for draw in draws) / len(draws),
        "x2": sum(draw[1] for draw in draws) / len(draws),
        "x1_sq": sum(draw[0] ** 2 for draw in draws) / len(draws),
        "x2_sq": sum(draw[1] ** 2 for draw in draws) / len(draws),
        "missing": counts.count(0),
        "occupancy_error": sum(abs(share - 0.05) / 0.05 for share in shares) / 20,
    }


def test_measures_of_spans_with_and_without_burn_in(record):
    spans = {"all": (0, 60), "after": (TUNE, TUNE + DRAWS), "later": (50, 75)}
    measure = mode_measures([Span(name=name, first=first, end=end) for name, (first, end) in spans.items()])
    found = measure(record, PEAKS)
    whole = [*record.tuning.draws.tolist(), *record.sampling.draws.tolist()]
    for name, (first, end) in spans.items():
        twin = naive_measures(whole[first:end])
        assert {key: found[f"{key}_{name}"] for key in twin} == pytest.approx(twin)
    assert len(found) == 2 + 6 * len(spans)
    # Counted from the end of burn-in, as a slip would have it, the span is another.
    assert naive_measures(record.sampling.draws[:60])["x1"] != pytest.approx(found["x1_all"])


def test_measures_of_draws_placed_by_hand():
    modes = np.asarray(PEAKS.modes)
    draws = np.vstack([np.repeat(modes[:9], 10, axis=0), np.tile(modes[9], (10, 1))])
    found = mode_measures([Span(name="s", first=5, end=105)])(hand_record(modes[:5], draws), PEAKS)
    assert found["missing_s"] == 10.0
    assert found["occupancy_error_s"] == pytest.approx(1.0)  # ten shares of 0.1, ten of 0
    assert found["x1_s"] == pytest.approx(modes[:10, 0].mean())
    everywhere = hand_record(modes[:0], np.repeat(modes, 5, axis=0))
    rare = hand_record(modes[:0], np.vstack([np.repeat(modes[:1], 99, axis=0), modes[1:2]]))
    assert mode_measures([Span(name="s", first=0, end=100)])(rare, PEAKS)["missing_s"] == 18.0
    even = mode_measures([Span(name="s", first=0, end=100)])(everywhere, PEAKS)
    assert (even["missing_s"], even["occupancy_error_s"]) == (0.0, pytest.approx(0.0, abs=1e-12))


def test_swaps_accepted_are_those_after_burn_in(record):
    trace, found = record.sampling, ladder_measures(record, PEAKS)
    tried = sum(int(attempts) for attempts in trace.swap_attempts)
    taken = sum(int(accepted) for accepted in trace.swap_accepted)
    assert tried == DRAWS
    assert 0 < taken < tried
    assert found == {"swaps_accepted": pytest.approx(taken / tried), "n_levels": 3.0}
    assert mode_measures([])(record, PEAKS) == found


def test_small_counters_do_not_overflow():
    counters = np.ones(1_000, dtype=np.uint8)
    record = hand_record(np.zeros((0, 2)), np.zeros((1_000, 2)), attempts=counters, accepted=counters)
    assert ladder_measures(record, PEAKS)["swaps_accepted"] == 1.0


def test_one_level_has_no_swaps_to_accept():
    none = np.zeros(10, dtype=np.uint8)
    record = hand_record(np.zeros((0, 2)), np.zeros((10, 2)), beta=(1.0,), attempts=none, accepted=none)
    assert ladder_measures(record, PEAKS) == {"swaps_accepted": 0.0, "n_levels": 1.0}


def test_levels_left_after_trimming():
    problem = tp.zoo.gaussian(2)
    result = tp.sample(
        problem, temperatures=[1.0, 2.0, 3.0, 4.0], draws=200, tune=500,
        chains=1, seed=3, progress=False, settings=tp.paper_settings(),
    )  # fmt: skip
    (record,) = result.chains
    left = ladder_measures(record, problem)["n_levels"]
    assert left == record.sampling.n_levels[-1] < 4


def test_bridge_measures_are_posterior_means_after_burn_in(rng):
    burn_in, draws = rng.normal(5.0, size=(7, 11)), rng.normal(size=(40, 11))
    found = bridge_measures(hand_record(burn_in, draws), BRIDGE.problem())
    names = [f"b{k}" for k in range(1, 11)] + ["log_variance"]
    assert list(found) == ["swaps_accepted", "n_levels", *names]
    assert [found[name] for name in names] == pytest.approx([sum(column) / 40 for column in draws.T])


def test_starts_of_the_bridge():
    design, response = regression.diabetes()
    problem = BRIDGE.problem()
    coefficients, (squares,), _, _ = np.linalg.lstsq(design, response)
    least = [*coefficients, math.log(squares / len(response))]
    assert problem.start(np.random.default_rng(0)).tolist() == pytest.approx(least)
    nothing = BRIDGE_FROM_ZERO.initial(problem)
    assert nothing[:-1].tolist() == [0.0] * 10
    assert nothing[-1] == pytest.approx(math.log(np.var(response)))
