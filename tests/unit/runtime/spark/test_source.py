"""The format "rdf" in a session that its user has made."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from scepter.errors import OptionError
from scepter.runtime.spark.source import EventSource, register


def session(version: str = "4.3.0") -> tuple[SimpleNamespace, list[tuple[str, type]]]:
    """As in a notebook whose environment is not activated: Spark's workers would be the `python3` of the path."""
    context = SimpleNamespace(master="local[2]", pythonExec="python3")
    told: list[tuple[str, type]] = []
    registry = SimpleNamespace(register=lambda source: told.append((context.pythonExec, source)))
    return SimpleNamespace(version=version, sparkContext=context, dataSource=registry), told


def test_the_format_is_registered_for_workers_that_find_scepter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    spark, told = session()
    register(spark)  # type: ignore[arg-type]
    assert told == [(sys.executable, EventSource)], "Spark notes the interpreter when a format is registered"


def test_the_format_is_not_registered_in_a_spark_that_cannot_do_it() -> None:
    spark, told = session("4.1.0")
    with pytest.raises(OptionError, match=r"this is Spark 4\.1\.0"):
        register(spark)  # type: ignore[arg-type]
    assert told == []
