"""`explain --analyze`: the plan of a run, and what each of its operators did."""

from __future__ import annotations

from collections.abc import Mapping

from scepter.physical.explain import explain
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
    `explain`, with the rows in and out of every operator, what it kept at most, and its CPU time."""
    engines: list[LocalEngine] = []
    parts = run_in_parts(
        query, streams, background=background, ontology=ontology, options=options, counting=engines.append
    )  # fmt: skip
    for _ in parts:
        pass
    (engine,) = engines
    return explain(engine.plan, query.language, format, dict(query.lowered.prefixes), engine.work)
