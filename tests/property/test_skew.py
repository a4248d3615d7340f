"""Keys that are divided further: over history into slices of time, live by the first event of matches. Whichever are hot, and
from whenever on, one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, event, given, note, settings
from hypothesis import strategies as st

from buckets import comparable, job_of, triples
from microbatches import Micro, engine_answers, graph_event, rows_of
from microbatches import comparable as in_micro_batches
from naive.spaseq import Event
from property import epsparql_strategies, sparkwave_strategies, spaseq_strategies
from property.test_live_horizon import FAR, Given
from scepter.errors import ScepterError
from scepter.kernel.row.split_keys import SplitKey
from scepter.kernel.sequence import chain, moment
from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import events_to_batch
from scepter.rdf.terms import IRI, Literal, Triple
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark.batch import Reading, packed_rows, run_bucket
from scepter.runtime.spark.environment import Enclosed
from scepter.runtime.spark.jobs import Job, work
from scepter.runtime.spark.live_skew import SKEWED, written
from scepter.runtime.spark.sampling import divisible_keys
from scepter.runtime.spark.skew import HotKey, places_of

MANY = settings(max_examples=max(10, spaseq_strategies.EXAMPLES // 3), suppress_health_check=list(HealthCheck), deadline=None)
PLACES = st.integers(2, 4)
DELAY = 3


def check(
    query: Query, stream: Sequence[Given], places: int, longer: int, background: Mapping[str | None, str] | None = None
) -> None:
    job = job_of(query, 2, background=background, given={e.stream for e in stream})
    backs = divisible_keys(job)
    assume(backs)
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    length = max(e.end for e in in_order) + 3
    wanted = {iri.value for iri in job.streams}
    events = [
        graph_event(job, e.stream, e.start + by * length, e.end + by * length, e.triples)
        for by in range(6)
        for e in in_order
        if e.stream in wanted
    ]
    assume(events)
    batch = events_to_batch(events, job.key, job.kind)
    hot: dict[int, tuple[HotKey, ...]] = {}
    for number, back in backs.items():
        keys = sorted(set(work(job, job.shares[number]).keys([batch])[0].tolist()))
        first = job.shares[number].buckets
        hot[number] = tuple(
            HotKey(key, first + at * places, places, back, 4 * back + longer) for at, key in enumerate(keys[::2])
        )
    event(f"hot keys: {any(hot.values())}")
    told = Counter(comparable(match) for match in by_places(replace(job, hot=hot, name=f"{job.name}-spread"), batch))
    engine = LocalEngine(job.program, job.options, job.background(), key=job.key)
    for iri in job.streams:
        engine.stream_number(iri)
    engine.take(events_to_batch(events, job.key, job.kind))
    wanted_answers = Counter(comparable(match) for match in [*engine.advance(1 << 40), *engine.finish()])
    event(f"answers: {bool(wanted_answers)}")
    assert told == wanted_answers


def by_places(job: Job, batch: EventBatch) -> list[Match]:
    blobs: dict[tuple[int, int], list[memoryview]] = {}
    for part in packed_rows(job, [batch], 0):
        for row in part.to_pylist():
            if row["blob"] is not None:
                blobs.setdefault((row["query"], row["bucket"]), []).append(memoryview(row["blob"]))
    reading = Reading(Enclosed(job), lambda letter: None)
    for number, place in blobs:
        assert place < places_of(job.shares[number], job.hot.get(number, ()))
    return [
        match
        for (number, place), mine in blobs.items()
        for matches in run_bucket(reading, number, place, mine)
        for match in matches
    ]


@MANY
@given(spaseq_strategies.queries(), st.data(), PLACES, st.integers(0, 5))
def test_spaseq(text: spaseq_strategies.QueryText, data: st.DataObject, places: int, longer: int) -> None:
    note(text.text)
    assume("DISTINCT" not in text.text and "\nASK\n" not in text.text)  # which meet once more behind the buckets
    stream = data.draw(spaseq_strategies.events(text.streams))
    assume(stream)
    static: dict[str | None, str] = {spaseq_strategies.DB: spaseq_strategies.BACKGROUND}
    check(parse(text.text, "spaseq"), stream, places, longer, static)


V = (
    "PREFIX : <http://e/> SELECT ?x ?v ?w WITHIN 3 SLIDING FROM STREAM S <http://e/s> WHERE { "
    "SEQ (N! ; A : B ; M!) DEFINE GPM N ON S { ?x :n ?n } DEFINE GPM M ON S { ?x :m ?m } "
    "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }"
)


@settings(deadline=None, max_examples=12)
@given(st.sampled_from([2, 3]), st.integers(0, 5))
def test_a_chain_with_negations_on_both_sides(places: int, longer: int) -> None:
    x = IRI("http://e/x")
    verbs = "abnabmaabbabnmabab"
    one = [
        Event("http://e/s", t, t, frozenset({Triple(x, IRI(f"http://e/{v}"), Literal(str(t)))})) for t, v in enumerate(verbs)
    ]
    check(parse(V, "spaseq"), one, places, longer)


EP_SPARQL = st.one_of(epsparql_strategies.queries(), epsparql_strategies.chains())


@MANY
@given(EP_SPARQL, epsparql_strategies.events(), PLACES, st.integers(0, 5))
def test_ep_sparql(text: str, stream: list[Given], places: int, longer: int) -> None:
    note(text)
    assume(stream and "DISTINCT" not in text and "ASK" not in text)
    try:
        query = parse(text, "ep-sparql")
    except ScepterError:
        assume(False)
    check(query, stream, places, longer)


@MANY
@given(sparkwave_strategies.continuous(), PLACES, st.integers(0, 5))
def test_sparkwave(setting: sparkwave_strategies.Setting, places: int, longer: int) -> None:
    note(setting.text)
    assume(setting.events and "DISTINCT" not in setting.text and "ASK" not in setting.text)
    check(parse(setting.text, "sparkwave"), setting.events, places, longer)


def check_live(
    query: Query, stream: Sequence[Given], draw: st.DataObject, background: Mapping[str | None, str] | None = None
) -> None:
    """Keys are split in the midst of it, some again later; events come in any order within the delay."""
    options = RunOptions.of(max_delay=DELAY)
    job = job_of(query, 4, background=background, options=options, live=True, given={e.stream for e in stream})
    assume(job.splittable)
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    length = max(e.end for e in in_order) + 3
    wanted = {iri.value for iri in job.streams}
    repeated = [(e, by * length) for by in range(4) for e in in_order if e.stream in wanted]
    assume(repeated)
    late = draw.draw(st.lists(st.integers(0, DELAY), min_size=len(repeated), max_size=len(repeated)))
    arriving = sorted(zip(repeated, late, strict=True), key=lambda each: each[0][0].end + each[0][1] + each[1])
    events = [graph_event(job, e.stream, e.start + by, e.end + by, e.triples) for (e, by), _ in arriving]
    events.append(graph_event(job, job.streams[0].value, FAR, FAR, triples(":far :away true .")))
    every = events_to_batch(list(events), job.key, job.kind)
    keys = {n: sorted(set(work(job, job.shares[n]).keys([every])[0].tolist())) for n in job.splittable}
    live, size, split = Micro(query, job), draw.draw(st.sampled_from([1, 3, 7, 12])), dict[int, tuple[SplitKey, ...]]()
    for first in range(0, len(events), size):
        with SKEWED.told(written(split)):
            live.batch(events[first : first + size])
        greatest = max(each.end for each in events[: first + size])
        for number, own in keys.items():
            free = [key for key in own if key not in {each.key for each in split.get(number, ())}]
            now: bool = draw.draw(st.booleans())
            if free and now:
                more = SplitKey(draw.draw(st.sampled_from(free)), greatest, draw.draw(st.integers(2, 4)))
                split[number] = (*split.get(number, ()), more)
    assert not live.late
    told = in_micro_batches(live.rows, FAR)
    event(f"answers: {bool(told)}, split: {sum(map(len, split.values())) > 0}")
    assert told == in_micro_batches(rows_of(engine_answers(job, events, FAR), live.schema), FAR)


@MANY
@given(spaseq_strategies.queries(), st.data())
def test_spaseq_live(text: spaseq_strategies.QueryText, data: st.DataObject) -> None:
    note(text.text)
    stream = data.draw(spaseq_strategies.events(text.streams))
    assume(stream)
    static: dict[str | None, str] = {spaseq_strategies.DB: spaseq_strategies.BACKGROUND}
    check_live(parse(text.text, "spaseq"), stream, data, static)


@MANY
@given(epsparql_strategies.chains(), epsparql_strategies.events(), st.data())
def test_ep_sparql_live(text: str, stream: list[Given], data: st.DataObject) -> None:
    note(text)
    assume(stream)
    try:
        query = parse(text, "ep-sparql")
    except ScepterError:
        assume(False)
    check_live(query, stream, data)


@settings(deadline=None, max_examples=30)
@given(st.data(), st.sampled_from(["A ; B", "A : B", "A ; A", "A+ ; B", "A ; B ; N!", "A ; N! ; B", "A? ; B"]))
def test_a_chain_live(data: st.DataObject, pattern: str) -> None:
    verbs = data.draw(st.lists(st.sampled_from("abn"), min_size=4, max_size=24))
    keys = data.draw(st.sampled_from([2, 6]))  # six have to share buckets
    stream = [
        Event("http://e/s", t, t, frozenset({Triple(IRI(f"http://e/x{t % keys}"), IRI(f"http://e/{v}"), Literal(str(t)))}))
        for t, v in enumerate(verbs)
    ]
    labels = sorted({each for each in pattern if each.isalpha()})
    gpms = " ".join(f"DEFINE GPM {each} ON S {{ ?x :{each.lower()} ?{each.lower()} }}" for each in labels)
    text = (
        f"PREFIX : <http://e/> SELECT ?x WITHIN {data.draw(st.sampled_from([3, 30]))} SLIDING FROM STREAM S <http://e/s> "
        f"WHERE {{ SEQ ({pattern}) {gpms} }}"
    )
    note(text)
    many = data.draw(st.sampled_from([1, moment.MANY]))  # from how many on runs begin in the order of their keys
    with pytest.MonkeyPatch.context() as patch:
        for module in (chain, moment):
            patch.setattr(module, "MANY", many)
        check_live(parse(text, "spaseq"), stream, data)
