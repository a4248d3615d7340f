"""State written and read back in the middle of any stream, and solutions shipped to any number of buckets, change no match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from naive import spaseq as naive
from naive.comparison import comparable_graph, comparable_row
from property.spaseq_strategies import BACKGROUND, DB, EXAMPLES, QueryText, events, queries
from property.test_spaseq_naive import by_engine
from scepter.kernel.shipping import unpack_solved
from scepter.kernel.state import dump, restore
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI
from scepter.runtime.inputs import load_background
from scepter.runtime.matches import Match, Matcher
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.jobs import Job, QueryWork
from scepter.timeline import TimeKind

MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def job_of(query: QueryText, buckets: int) -> Job:
    parsed = parse(query.text, "spaseq")
    static = load_background(parsed, {DB: BACKGROUND}, None)
    return Job(
        name="a run",
        program=parsed.program,
        options=RunOptions(),
        kind=TimeKind.INTEGER,
        key=TermKey.fixed(),
        streams=tuple(IRI(iri) for iri in query.streams),
        default=tuple(static.dataset.default),
        named=tuple((iri.value, tuple(graph)) for iri, graph in static.dataset.named.items()),
        ontology=(),
        buckets=buckets,
    )


class Buckets:
    """What a live run does, without Spark: reading tasks, a shuffle, and a kernel per bucket that may be written and read."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.reader = QueryWork(job, 0)
        self.run = ReadState(job.kind)
        self.number = 0
        self.works: dict[int, QueryWork] = {}

    def take(self, event: naive.Event) -> None:
        triples = [(str(t.subject), str(t.predicate), str(t.object)) for t in event.triples]
        stream = self.job.streams.index(IRI(event.stream))
        batch = events_to_batch(
            [GraphEvent(stream, None, event.start, event.end, triples)], self.job.key, self.job.kind, run=self.run
        )
        for bucket, _, blob in self.reader.solve(batch, self.number):
            work = self.works.setdefault(bucket, QueryWork(self.job, 0))
            work.kernel.accept(unpack_solved(blob, work.texts))
        self.number += 1

    def release(self, until: int) -> list[Match]:
        found: list[Match] = []
        for work in self.works.values():
            found += self._matcher(work)(work.kernel.release(until, until))
            work.kernel.commit()
        return found

    def finish(self) -> list[Match]:
        return [match for work in self.works.values() for match in self._matcher(work)(work.kernel.finish())]

    def cut(self) -> None:
        for bucket, work in self.works.items():
            self.works[bucket] = QueryWork(self.job, 0)
            restore(self.works[bucket].kernel, self.works[bucket].texts, dump(work.kernel, work.texts))

    def _matcher(self, work: QueryWork) -> Matcher:
        return Matcher(0, work.kernel, work.texts, self.job.kind, lambda number, name: number)


def comparable(query: QueryText, matches: Iterable[Match]) -> Counter[object]:
    rows = [
        (
            m.start,
            m.end,
            True if m.boolean else comparable_graph(m.graph) if m.graph is not None else comparable_row(m.bindings.items()),
        )
        for m in matches
    ]
    if "\nASK\n" in query.text:  # each bucket answers; the first answer counts
        rows = sorted(rows, key=lambda row: (row[1], row[0]))[:1]
    if "DISTINCT" in query.text:  # each bucket's rows are distinct; equal rows of different buckets are one
        rows = list(dict.fromkeys(rows))
    return Counter(rows)


@st.composite
def cut_runs(draw: st.DrawFn) -> tuple[QueryText, list[naive.Event], list[bool]]:
    query = draw(queries())
    stream = [e for e in draw(events(query.streams)) if e.stream in query.streams]
    return query, stream, draw(st.lists(st.booleans(), min_size=len(stream), max_size=len(stream)))


@MANY
@given(cut_runs(), st.sampled_from([1, 7]), st.sampled_from([0, 0, 3, 20]))
def test_a_state_read_back_goes_on_as_the_one_written(
    run: tuple[QueryText, list[naive.Event], list[bool]], buckets: int, delay: int
) -> None:
    query, stream, cuts = run
    note(query.text)
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    live = Buckets(job_of(query, buckets))
    found: list[Match] = []
    for event, cut in zip(in_order, cuts, strict=True):
        live.take(event)
        if cut:
            live.cut()
        found += live.release(event.end - delay - 1)
        if cut:
            live.cut()
    found += live.finish()
    assert comparable(query, found) == by_engine(query, in_order, 0, 1, 0)
