"""`explain --analyze`: the plan of a run, and what each of its operators did."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from scepter.physical.explain.description import Description, Ran, describe
from scepter.physical.explain.explain import explain
from scepter.physical.plan import PhysicalPlan
from scepter.rdf.source import EventSource
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven
from scepter.runtime.local import run_in_parts
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query


@dataclass(frozen=True, slots=True)
class Analysis:
    """A query, the plan that ran, and what its operators did."""

    query: Query
    plan: PhysicalPlan
    ran: Ran

    @classmethod
    def of(cls, query: Query, engine: LocalEngine) -> Analysis:
        """Of an engine that counted."""
        return cls(query, engine.plan, Ran(engine.work, peak_memory()))

    def text(self, format: str = "text") -> str:
        """In any format of `explain`."""
        return explain(self.plan, self.query.language, format, dict(self.query.lowered.prefixes), self.ran)

    def facts(self) -> Description:
        """What all formats tell."""
        return describe(self.plan, self.query.language, dict(self.query.lowered.prefixes), self.ran)


def analyze(
    query: Query,
    streams: Mapping[str, EventSource],
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
) -> Analysis:
    """Run a query over bounded sources in this process, forget its matches, and give the plan that ran, with the rows in and
    out of every operator, what it kept at most and the memory of that, and its CPU time."""
    engines: list[LocalEngine] = []
    parts = run_in_parts(
        query, streams, background=background, ontology=ontology, options=options, counting=engines.append
    )  # fmt: skip
    for _ in parts:
        pass
    (engine,) = engines
    return Analysis.of(query, engine)


def peak_memory() -> int | None:
    """Bytes that this process had at most; macOS counts them, Linux kilobytes, and some systems nothing."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
