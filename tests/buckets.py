"""A run in buckets without Spark: what reading tasks, a shuffle and stateful tasks do, one event at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping

from naive.comparison import comparable_graph, comparable_row
from scepter.rdf.formats import GraphEvent, events_to_batch, parse_graph
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.inputs import OntologyGiven, load_background, load_ontology
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import Query
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.sequence_work import SequenceWork
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.timeline import TimeKind


def job_of(
    query: Query,
    buckets: int = 1,
    *,
    background: Mapping[str | None, str] | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    kind: TimeKind = TimeKind.INTEGER,
    live: bool = False,
    ontology: OntologyGiven = None,
    given: Iterable[str] = (),
) -> Job:
    static = load_background(query, background, ontology)
    schema = load_ontology(query, ontology)
    named = [stream.iri.value for unit in query.program.units for stream in unit.streams]
    return Job(
        name=uuid.uuid4().hex,
        plan=planned(query.program, facts_of(options, static, schema, kind)),
        options=options,
        kind=kind,
        key=TermKey.fixed(),
        streams=tuple(IRI(iri) for iri in dict.fromkeys([*query.streams, *named, *given])),
        static=ShippedBackground.of(static),
        ontology=schema,
        buckets=buckets,
        live=live,
    )


def triples(text: str) -> list[Triple]:
    """Turtle as triples, `:` being http://example/."""
    return parse_graph(text, {"": "http://example/"})


class Buckets:
    """One kernel per bucket, fed by one that solves; any of them may be written and read back at any time."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.reader = SequenceWork(job, job.shares[0])
        self.run = ReadState(job.kind)
        self.number = 0
        self.works: dict[int, SequenceWork] = {}

    def solved(
        self, stream: str, start: int, end: int, triples: Iterable[tuple[object, object, object]]
    ) -> list[tuple[int, int, bytes]]:
        """An event as packed solutions: (bucket, time, blob)."""
        texts = [(str(subject), str(predicate), str(object)) for subject, predicate, object in triples]
        event = GraphEvent(self.job.streams.index(IRI(stream)), f"<http://e/{self.number}>", start, end, texts)
        batch = events_to_batch([event], self.job.key, self.job.kind, run=self.run)
        self.number += 1
        return list(self.reader.solve([batch], self.number - 1))

    def take(self, stream: str, start: int, end: int, triples: Iterable[tuple[object, object, object]]) -> None:
        for bucket, _, blob in self.solved(stream, start, end, triples):
            self.works.setdefault(bucket, self._new(bucket)).accept(blob)

    def _new(self, bucket: int) -> SequenceWork:
        return SequenceWork(self.job, self.job.shares[0], bucket=bucket)

    def release(self, until: int) -> list[Match]:
        return [match for work in self.works.values() for found in work.released(until) for match in found]

    def finish(self) -> list[Match]:
        return [match for work in self.works.values() for found in work.ended() for match in found]

    def written(self) -> dict[int, bytes]:
        return {bucket: work.dump("") for bucket, work in self.works.items()}

    def read(self, state: Mapping[int, bytes]) -> None:
        self.works = {bucket: self._new(bucket) for bucket in state}
        for bucket, work in self.works.items():
            work.restore(state[bucket], "")

    def cut(self) -> None:
        self.read(self.written())


def comparable(match: Match) -> tuple[int, int, object]:
    """What two runs of a query must agree on."""
    if match.graph is not None:
        return match.start, match.end, comparable_graph(match.graph)
    return match.start, match.end, match.boolean or comparable_row(match.bindings.items())
