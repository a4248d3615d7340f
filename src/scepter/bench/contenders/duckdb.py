"""Yardstick: a hand-written query for DuckDB over the same text, on one thread; rows are counted, or written as JSON."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point


def prepared(name: str) -> Work:
    """A connection of its own for each run, so that nothing is cached."""
    return run if name == "duckdb" else write


def run(point: Point) -> Outcome:
    """The text has a place for each stream's file, {0}, {1}, …; the last statement gives the count."""
    with duckdb.connect(config={"threads": 1}) as connection:
        [(count,)] = connection.sql(point.yardsticks["duckdb"].format(*point.streams.values())).fetchall()
    return Outcome(int(count))


def write(point: Point) -> Outcome:
    """The text gives rows, which go to a file as JSON lines; DuckDB says how many."""
    text = point.yardsticks["duckdb-written"].format(*point.streams.values())
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 1}) as connection:
        target = Path(folder) / "rows.jsonl"
        [(count,)] = connection.execute(f"COPY ({text}) TO '{target}' (FORMAT json)").fetchall()
    return Outcome(int(count))
