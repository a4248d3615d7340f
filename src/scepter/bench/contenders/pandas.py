"""Yardstick: pandas from CSV. The mean per sensor of each window, by sums per step that are added up.

The option `csv` names the file: sensor, time, value. Reading that is in favour of the yardstick: a line of it is an event of
twelve triples.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """A row for each sensor that a window holds an observation of, written as CSV."""
    width, step = int(point.options["width"]), int(point.options["step"])
    given = pd.read_csv(str(point.options["csv"]), names=["sensor", "time", "value"])
    given["at"] = -(-given["time"] // step) * step
    cells = given.groupby(["sensor", "at"])["value"].agg(["sum", "count"]).unstack("at").sort_index(axis=1)
    grid = range(int(given["at"].min()), int(given["at"].max()) + width, step)
    sums, counts = (_rolled(cells[of].reindex(columns=grid), width // step) for of in ("sum", "count"))
    means = (sums / counts).stack().dropna().reset_index()
    with tempfile.TemporaryDirectory() as folder:
        means.to_csv(Path(folder) / "means.csv", index=False)
    return Outcome(len(means))


def _rolled(cells: pd.DataFrame, steps: int) -> pd.DataFrame:
    """What the steps of each window add up to, a row per evaluation; where there is nothing, nothing."""
    sums = cells.fillna(0).T.rolling(steps, min_periods=1).sum()
    return sums.where(cells.notna().T.rolling(steps, min_periods=1).max() > 0)
