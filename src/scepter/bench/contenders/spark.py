"""Spark over history, from files to rows that are counted."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from scepter.api.on_spark import run as run_on_spark
from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point
from scepter.runtime.queries import parse
from scepter.runtime.spark.session import session
from scepter.runtime.spark.source import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepared(name: str) -> Work:
    """A session, started when the master is known."""
    return run


@cache
def started(master: str) -> SparkSession:
    """The session of this process."""
    spark = session(master, "scepter bench")
    register(spark)
    return spark


def static_data(point: Point) -> dict[str, Any]:
    """The background and the ontology of a point."""
    return {
        "background": {graph or None: path for graph, path in point.background.items()} or None,
        "ontology": None if point.ontology is None else [point.ontology],
    }


def run(point: Point) -> Outcome:
    """The number of rows."""
    found = run_on_spark(
        parse(point.query, point.language),
        started(point.master),
        point.streams,
        **static_data(point),
    )
    return Outcome(found.count())
