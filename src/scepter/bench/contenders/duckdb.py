"""Yardstick: a hand-written query for DuckDB over the same text, on one thread."""

from __future__ import annotations

import duckdb

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point


def prepared(name: str) -> Work:
    """A connection of its own for each run, so that nothing is cached."""
    return run


def run(point: Point) -> Outcome:
    """The text has a place for each stream's file, {0}, {1}, …; the last statement gives the count."""
    with duckdb.connect(config={"threads": 1}) as connection:
        [(count,)] = connection.sql(point.yardsticks["duckdb"].format(*point.streams.values())).fetchall()
    return Outcome(int(count))
