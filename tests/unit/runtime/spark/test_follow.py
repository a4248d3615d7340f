"""Following a query of Spark's: one whose workers are slow to start is started again, and no other."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException

import scepter
from scepter.runtime.spark.follow import follow

QUERY = scepter.parse("SELECT ?x WHERE { ?x ?p ?o }", "ep-sparql")
SLOW = "[STREAM_FAILED] terminated with exception: Python worker failed to connect back."


class Running:
    """A query that ends with an error, or because it was stopped; `batch` is the last one it has done."""

    isActive = False  # Spark's names
    status: ClassVar = {"isTriggerActive": False}

    def __init__(self, error: str | None, batch: int | None) -> None:
        self._error = error
        counts: dict[str, Any] = {"eventTime": {}, "stateOperators": [], "durationMs": {}, "observedMetrics": {}}
        self.lastProgress = None if batch is None else {"batchId": batch, **counts}
        self.recentProgress = [] if batch is None else [self.lastProgress]

    def awaitTermination(self) -> None:
        if self._error is not None:
            raise PySparkException(self._error)

    def stop(self) -> None: ...


def starts(*endings: tuple[str | None, int | None]) -> int:
    """How often a query is started whose starts end so."""
    count = 0

    def start() -> Running:
        nonlocal count
        count += 1
        return Running(*endings[min(count, len(endings)) - 1])

    written: Any = SimpleNamespace(start=start)
    written.foreachBatch = written.option = written.outputMode = lambda *given: written
    try:
        follow(SimpleNamespace(writeStream=written), QUERY, lambda *given: None, checkpoint="c", stop=threading.Event())  # type: ignore[arg-type]
    except PySparkException:
        return -count
    return count


def test_a_slow_start_is_tried_again() -> None:
    assert starts((SLOW, None), (SLOW, None), (None, None)) == 3


def test_a_start_that_is_slow_for_ever_is_told() -> None:
    assert starts((SLOW, None)) == -6


def test_a_micro_batch_between_two_slow_starts_is_a_new_beginning() -> None:
    assert starts(*((SLOW, batch // 4) for batch in range(20)), (None, None)) == 21


def test_other_faults_are_told_at_once() -> None:
    assert starts(("[STREAM_FAILED] division by zero", None), (None, None)) == -1
