"""`explain --analyze`: the plan of a run, and what each of its operators did."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import NamedTuple

from scepter.physical.explain import explain
from scepter.physical.metrics import Metrics
from scepter.rdf.source import EventSource
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.local import run_in_parts
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query


def analyze(
    query: Query,
    streams: Mapping[str, EventSource],
    format: str = "text",
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
) -> str:
    """Run a query over bounded sources in this process, forget its matches, and show the plan that ran, in any format of
    `explain`, with the rows in and out of every operator, what it kept at most and the memory of that, and its CPU time."""
    engines: list[LocalEngine] = []
    parts = run_in_parts(
        query, streams, background=background, ontology=ontology, options=options, counting=engines.append
    )  # fmt: skip
    for _ in parts:
        pass
    (engine,) = engines
    return plan_that_ran(query, engine, format)


class OperatorWork(NamedTuple):
    """An operator, as `explain` prints it, and what it did."""

    operator: str
    unit: str
    work: Metrics


def operators_that_ran(query: Query, engine: LocalEngine) -> list[OperatorWork]:
    """The operators of an engine that counted, each behind what it reads."""
    units = json.loads(plan_that_ran(query, engine, "json"))["units"]
    return [
        OperatorWork(f"#{operator['id']} {operator['text']}", unit["title"], Metrics(**operator["work"]))
        for unit in units
        for operator in unit["operators"]
        if operator["work"] is not None  # without an event nothing has run
    ]


def plan_that_ran(query: Query, engine: LocalEngine, format: str = "text") -> str:
    """The plan of an engine that counted, in any format of `explain`, with what each operator did."""
    return explain(engine.plan, query.language, format, dict(query.lowered.prefixes), engine.work, _peak_memory())


def _peak_memory() -> int | None:
    """Bytes; macOS counts them, Linux kilobytes, and some systems nothing."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
