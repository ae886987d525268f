"""The map from coordinates to parameters as plain numbers: a stored run can be read without its model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from temperance.core.state import FloatArray
from temperance.models.contract import Meaning
from temperance.parameters import Parameters, names_from_plain, names_to_plain
from temperance.priors.kernels.table import CODES, Table, by_rows


def transform_to_plain(names: Parameters, table: Table) -> dict[str, Any]:
    """Names of the parameters and the table that makes them, as JSON knows them."""
    return {
        "codes": CODES,
        "names": names_to_plain(names),
        **{k: v.tolist() for k, v in table._asdict().items()},
    }


def meaning_from_plain(plain: Mapping[str, Any] | None) -> Meaning:
    """What coordinates mean by a stored map; nothing where there is none, or one that we cannot read."""
    names = None if plain is None or plain["codes"] != CODES else names_from_plain(plain["names"])
    if plain is None or names is None:
        return Meaning()
    table = Table(np.array(plain["blocks"], dtype=np.int64), np.array(plain["constants"], dtype=np.float64))

    def points(rows: FloatArray) -> FloatArray:
        return by_rows(table, rows, names.size)[0]

    return Meaning(constrain=lambda rows: names.split(points(rows)), value_names=names, points=points)
