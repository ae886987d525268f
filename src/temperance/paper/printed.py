"""The paper's tables as data: its printed figures, and which of our cells stand beside them.

Printed figures stand as they are printed, in the order of the columns; ``-`` where nothing was printed.
Where the text leaves several readings open, each has a block of its own.
"""

from collections.abc import Callable, Sequence

import numpy as np

from temperance.paper.estimates import Estimator, mean, percentage, rmse, rmse_ratio, spread
from temperance.paper.experiments import (
    AFTER_10000,
    ALL_15000,
    PEAKS,
    READINGS_2D,
    READINGS_8D,
    READINGS_BRIDGE,
    RUNS_2D,
    RUNS_8D,
    RUNS_BRIDGE,
    RUNS_TABLE_4,
    RUNS_TRIMMING,
    RWM,
    SCATTERED_CYLINDERS,
    STRATEGIES,
    TRIMMED_CYLINDERS,
    TRIMMED_PEAKS,
)
from temperance.paper.measure import Span
from temperance.paper.study import Block, Cell, Column, Row, Study, Table
from temperance.zoo import twenty_peaks

LEVELS_8D = range(3, 10)
MOMENTS = {"E X1": "x1", "E X2": "x2", "E X1²": "x1_sq", "E X2²": "x2_sq"}
# The printed errors of E X1² come out against the exact E X2²: a slip on the authors' side.
SLIP = "E X1² against the exact E X2²"

_PEAKS = twenty_peaks()  # the cylinders have the same moments in their first two coordinates
_EXACT_MOMENTS = np.concatenate([np.asarray(_PEAKS.mean), _PEAKS.second_moments])
EXACT = dict(zip(MOMENTS.values(), _EXACT_MOMENTS.tolist(), strict=True))


def _columns(study: Study, levels: Sequence[int], strategies: Sequence[str]) -> tuple[Column, ...]:
    arms = [(n, strategy) for n in levels for strategy in strategies]
    return tuple(Column(label=f"L={n} {arm}", cells=(Cell(study.name, arm, n),)) for n, arm in arms)


def _ratio_columns(study: Study, levels: Sequence[int]) -> tuple[Column, ...]:
    arms = [(n, strategy) for n in levels for strategy in ("AL", "RA")]
    return tuple(
        Column(label=f"L={n} {arm}/EE", cells=(Cell(study.name, arm, n), Cell(study.name, "EE", n)))
        for n, arm in arms
    )


def _moment_rows(
    estimator: Callable[[str, float], Estimator], span: Span, printed: dict[str, str]
) -> tuple[Row, ...]:
    rows = [
        Row(label=label, estimator=estimator(f"{moment}_{span.name}", EXACT[moment]), printed=printed[label])
        for label, moment in MOMENTS.items()
    ]
    slip = estimator(f"x1_sq_{span.name}", EXACT["x2_sq"])
    return (*rows, Row(label=SLIP, estimator=slip, printed=printed["E X1²"]))


TABLE_1 = Table(
    name="table1",
    title="Twenty peaks: root mean square error of the first two moments, EE swaps",
    blocks=tuple(
        Block(
            title=reading,
            columns=_columns(PEAKS, (2, 3, 4, 5), ("EE",)),
            rows=_moment_rows(
                rmse,
                span,
                {
                    "E X1": "0.87 0.36 0.33 0.33",
                    "E X2": "1.16 0.50 0.41 0.41",
                    "E X1²": "13.71 9.24 9.25 9.05",
                    "E X2²": "11.25 4.96 4.32 4.16",
                },
            ),
            n_published=RUNS_2D,
        )
        for reading, span in READINGS_2D.items()
    ),
)

TABLE_2 = Table(
    name="table2",
    title="Twenty peaks: are all modes found, and how evenly are they visited?",
    blocks=tuple(
        Block(
            title=reading,
            columns=(*_columns(PEAKS, (2,), ("EE",)), *_columns(PEAKS, (3, 4, 5), STRATEGIES)),
            rows=(
                Row(
                    label="no missing mode (%)",
                    estimator=percentage(f"missing_{span.name}", 0.0),
                    printed="62.8  99.8 99.6 99.8  100 99.2 99.4  100 99.4 98.8",
                ),
                Row(
                    label="occupancy error",
                    estimator=mean(f"occupancy_error_{span.name}"),
                    printed="0.59  0.32 0.34 0.35  0.3 0.36 0.37  0.29 0.38 0.4",
                ),
            ),
            n_published=RUNS_2D,
        )
        for reading, span in READINGS_2D.items()
    ),
)

TABLE_3 = Table(
    name="table3",
    title="Twenty peaks: root mean square errors of AL and RA swaps, divided by those of EE",
    blocks=tuple(
        Block(
            title=reading,
            columns=_ratio_columns(PEAKS, (3, 4, 5)),
            rows=_moment_rows(
                rmse_ratio,
                span,
                {
                    "E X1": "1.04 1.04  1.13 1.23  1.30 1.24",
                    "E X2": "0.96 0.97  1.27 1.20  1.31 1.30",
                    "E X1²": "1.01 1.05  1.00 1.05  1.06 1.06",
                    "E X2²": "0.97 1.00  1.21 1.18  1.27 1.30",
                },
            ),
            n_published=RUNS_2D,
        )
        for reading, span in READINGS_2D.items()
    ),
)

SPANS_8D = {"10,000 iterations after burn-in": AFTER_10000, "all 15,000 iterations": ALL_15000}
PRINTED_4 = {
    3: ("0 0 0", "16 16 16", "1.7 1.7 1.7"),
    5: ("17.3 16.3 5.1", "1.6 1.6 2.7", "0.78 0.79 0.89"),
    7: ("17.3 11.2 3.06", "1.8 2.2 3.4", "0.79 0.86 0.93"),
    9: ("19.4 6.12 0", "1.6 2.4 5.2", "0.8 0.85 1.1"),
}


def _modes_block(title: str, study: Study, levels: Sequence[int], span: Span) -> Block:
    found, missing, error = (" ".join(PRINTED_4[n][row] for n in levels) for row in range(3))
    return Block(
        title=title,
        columns=_columns(study, levels, STRATEGIES),
        rows=(
            Row(
                label="no missing mode (%)", estimator=percentage(f"missing_{span.name}", 0.0), printed=found
            ),
            Row(label="missing modes", estimator=mean(f"missing_{span.name}"), printed=missing),
            Row(label="occupancy error", estimator=mean(f"occupancy_error_{span.name}"), printed=error),
        ),
        n_published=RUNS_TABLE_4,
    )


TABLE_4 = Table(
    name="table4",
    title="Twenty cylinders: are all modes found, and how evenly are they visited?",
    blocks=(
        *(
            _modes_block(f"{reading}; {iterations}", study, tuple(PRINTED_4), span)
            for reading, study in READINGS_8D.items()
            for iterations, span in SPANS_8D.items()
        ),
        _modes_block(
            "six standard normals, from random points; 10,000 iterations after burn-in",
            SCATTERED_CYLINDERS,
            (3, 9),
            AFTER_10000,
        ),
    ),
)

TABLE_5 = Table(
    name="table5",
    title="Twenty cylinders: root mean square errors of AL and RA swaps, divided by those of EE",
    blocks=tuple(
        Block(
            title=reading,
            columns=_ratio_columns(study, LEVELS_8D),
            rows=_moment_rows(
                rmse_ratio,
                AFTER_10000,
                {
                    "E X1": "1.00 1.00  1.08 1.02  0.97 1.03  1.03 0.94  1.33 1.38  0.95 1.14  1.03 1.16",
                    "E X2": "1.01 1.02  1.07 1.00  1.15 0.98  0.97 1.06  1.12 1.11  0.95 1.35  1.13 1.51",
                    "E X1²": "1.00 1.00  1.02 1.01  0.93 1.05  0.96 0.91  1.04 1.02  0.96 1.08  1.01 1.08",
                    "E X2²": "1.01 1.01  0.95 1.00  1.09 0.97  1.04 1.11  1.15 1.24  1.01 1.43  1.05 1.55",
                },
            ),
            n_published=RUNS_8D,
        )
        for reading, study in READINGS_8D.items()
    ),
)

TABLE_6 = Table(
    name="table6",
    title="Twenty cylinders: share of swaps accepted",
    blocks=tuple(
        Block(
            title=f"{reading}, {strategy} swaps",
            columns=_columns(study, LEVELS_8D, (strategy,)),
            rows=(Row(label="swaps accepted", estimator=mean("swaps_accepted"), printed=printed),),
            n_published=RUNS_8D,
        )
        for reading, study in READINGS_8D.items()
        for strategy, printed in {
            "EE": "0.38 0.42 0.45 0.45 0.46 0.46 0.46",
            "RA": "0.16 0.12 0.10 0.08 0.07 0.06 0.05",
        }.items()
    ),
)

TABLE_7 = Table(
    name="table7",
    title="Bridge regression: posterior means, and their standard deviations over runs",
    blocks=tuple(
        Block(
            title=reading,
            columns=(
                Column(label="RWM from zero", cells=(Cell(from_zero.name, RWM, 1),)),
                Column(label="RWM from least squares", cells=(Cell(study.name, RWM, 1),)),
                *_columns(study, (9,), STRATEGIES),
            ),
            rows=tuple(
                Row(label=label, estimator=estimator(quantity), printed=printed)
                for label, estimator, quantity, printed in (
                    ("coefficient 3", mean, "b3", "0.228 0.228 723 724 723"),
                    ("spread of coefficient 3", spread, "b3", "0.64 0.64 2.60 2.60 4.40"),
                    ("coefficient 9", mean, "b9", "0.165 0.165 0.240 0.199 0.141"),
                    ("spread of coefficient 9", spread, "b9", "0.390 0.390 0.150 0.050 0.067"),
                    ("log variance", mean, "log_variance", "8.69 8.69 8.3 8.3 8.3"),
                    ("spread of log variance", spread, "log_variance", "0.003 0.003 0.0031 0.0027 0.0028"),
                )
            ),
            n_published=RUNS_BRIDGE,
        )
        for reading, (study, from_zero) in READINGS_BRIDGE.items()
    ),
)

# What was printed of the levels left, for nine levels by the burn-in; nothing else came out.
PRINTED_LEFT_8D = {5_000: {4: "15", 5: "85"}, 7_500: {5: "100"}}

TRIMMING = Table(
    name="trimming",
    title="Levels left by Eq. (11), EE swaps: percentage of runs that end with so many",
    blocks=(
        Block(
            title="twenty peaks, from four and from five levels",
            columns=_columns(TRIMMED_PEAKS, (4, 5), ("EE",)),
            rows=tuple(
                Row(label=f"{n} levels", estimator=percentage("n_levels", float(n)), printed=printed)
                for n, printed in {1: "0 0", 2: "0 0", 3: "100 100", 4: "0 0", 5: "- 0"}.items()
            ),
            n_published=RUNS_TRIMMING,
        ),
        *(
            Block(
                title=f"twenty cylinders, from nine levels; gain n^−{exponent:g}, burn-in {burn_in:,}",
                columns=_columns(study, (9,), ("EE",)),
                rows=tuple(
                    Row(
                        label=f"{n} levels",
                        estimator=percentage("n_levels", float(n)),
                        printed=PRINTED_LEFT_8D[burn_in].get(n, "0"),
                    )
                    for n in range(1, 10)
                ),
                n_published=RUNS_TRIMMING,
            )
            for (exponent, burn_in), study in TRIMMED_CYLINDERS.items()
        ),
    ),
)

TABLES = {
    table.name: table for table in (TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5, TABLE_6, TABLE_7, TRIMMING)
}
