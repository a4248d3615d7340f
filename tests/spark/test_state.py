"""The stateful part of a live run without a cluster: Spark's in-memory tester holds the state and fires the timers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings
from pyspark.sql.streaming.tws_tester import TwsTester

from buckets import Buckets, comparable, job_of, triples
from naive import spaseq as naive
from naive.comparison import comparable_graph, comparable_row
from property.spaseq_strategies import BACKGROUND, DB, QueryText
from property.test_spaseq_naive import runs
from scepter.errors import DataError
from scepter.kernel.state.container import pack, unpack
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple, parse_term
from scepter.runtime.options import RunOptions
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark.group_keys import place_of_times, placed
from scepter.runtime.spark.identity import Identity
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.processor import BucketProcessor
from scepter.runtime.spark.tables import arrow_schema
from scepter.timeline import TimeKind

S = "http://example/s"
FAR = 10_000
PAIR = """PREFIX : <http://example/>
SELECT ?v ?w
WITHIN 10 SLIDING
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?s :a ?v }
  DEFINE GPM B ON S { ?s :b ?w }
}
"""


class Live:
    """A live run: events are packed as reading tasks do, the tester is the stateful task."""

    def __init__(self, query: Query, job: Job) -> None:
        self.job = job
        self.source = Buckets(job)
        schema = arrow_schema(query.variables, query.constructs, query.asks, job.kind)
        # Spark's own filter of late rows looks at a column that the run leaves out
        self.tester = TwsTester(BucketProcessor(job, schema), timeMode="EventTime", eventTimeExtractor=lambda row: FAR**4)
        self.rows: list[tuple[int, int, object]] = []
        self.late: list[tuple[list[int], int]] = []
        self.reached = 0

    def take(self, stream: str, start: int, end: int, about: Iterable[tuple[object, object, object]]) -> None:
        for bucket, _, blob in self.source.solved(stream, start, end, about):
            self._send(self.key(bucket), blob)

    def key(self, bucket: int) -> int:
        return placed(self.job.buckets, 0, bucket)

    def times(self, *times: int) -> None:
        """What reading tasks tell of all events, also of those that no pattern looks at."""
        told = {"stream": pa.array([0] * len(times)).to_numpy(), "time": pa.array(times).to_numpy()}
        self._send(place_of_times(self.job.buckets), pack(told, {"counted": {}}))

    def pass_to(self, milliseconds: int) -> None:
        if milliseconds > self.reached:
            self.reached = milliseconds
            self._keep(self.tester.setWatermark(milliseconds))

    def state(self, bucket: int = 0) -> bytes | None:
        kept = self.tester.peekValueState("kernel", self.key(bucket))
        return None if kept is None else bytes(kept[0])

    def _send(self, place: int, blob: bytes) -> None:
        self._keep(self.tester.testInPandas(place, pd.DataFrame({"place": [place], "blob": [blob]})))

    def _keep(self, found: pd.DataFrame) -> None:
        if not len(found):  # the tester gives a list then
            return
        for row in found.to_dict("records"):
            if row["letters"] is not None:
                arrays, meta = unpack(row["letters"])
                assert row["late"] == len(arrays["time"])
                self.late.append((arrays["time"].tolist(), meta["watermark"]))
            if row["rows"] is not None:
                table = pa.ipc.open_stream(row["rows"]).read_all()
                for name in ("start", "end"):
                    table = table.set_column(table.schema.get_field_index(name), name, table.column(name).cast(pa.int64()))
                rows = table.to_pylist()
                assert row["matches"] == len(rows)
                self.rows += [shown(one) for one in rows]


def term(struct: dict[str, str | None]) -> Term:
    match struct:
        case {"type": "uri", "value": str(value)}:
            return IRI(value)
        case {"type": "bnode", "value": str(label)}:
            return BlankNode(label)
        case {"type": "literal", "value": str(lexical), "lang": str(language)}:
            return Literal(lexical, language=language)
        case {"value": str(lexical), "datatype": str(datatype)}:
            return Literal(lexical, datatype)
    raise AssertionError(struct)


def shown(row: dict[str, object]) -> tuple[int, int, object]:
    start, end = row.pop("start"), row.pop("end")
    assert isinstance(start, int) and isinstance(end, int)
    if row.get("boolean"):
        return start, end, True
    graph = row.get("graph")
    if isinstance(graph, list):
        made = tuple(Triple(*(parse_term(t[part]) for part in "spo")) for t in graph)
        return start, end, comparable_graph(made)
    columns = {name: value for name, value in row.items() if not name.startswith("_")}
    return start, end, comparable_row((name, term(value)) for name, value in columns.items() if isinstance(value, dict))


def live(text: str, buckets: int = 1, options: RunOptions | None = None) -> Live:
    query = parse(text, "spaseq")
    return Live(query, job_of(query, buckets, options=options or RunOptions(), live=True))


def engine_rows(query: QueryText, events: Sequence[Event]) -> Counter[object]:
    engine = Engine(parse(query.text, "spaseq"), background={DB: BACKGROUND})
    return Counter(comparable(match) for event in events for match in engine.push(event))


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(runs())
def test_moving_watermarks_give_what_the_engine_gives(run: tuple[QueryText, list[naive.Event]]) -> None:
    query, stream = run
    note(query.text)
    ours = [e for e in stream if e.stream in query.streams]
    pushed = [Event(e.stream, e.triples, e.start, e.end) for e in ours]
    in_order = sorted(pushed, key=lambda e: (e.end, e.start))
    in_order.append(Event(query.streams[0], triples(":far :away true ."), FAR, FAR))
    parsed = parse(query.text, "spaseq")
    found = Live(parsed, job_of(parsed, 7, background={DB: BACKGROUND}, live=True))
    for event in in_order:
        found.take(event.stream, event.start, event.end, event.triples)
        found.pass_to(event.end)
    assert Counter(found.rows) == engine_rows(query, in_order)


def test_a_match_waits_for_the_watermark() -> None:
    run = live(PAIR)
    run.take(S, 3, 3, triples(":x :a 1 ."))
    run.take(S, 5, 5, triples(":x :b 2 ."))
    run.pass_to(5)
    assert run.rows == []
    run.pass_to(6)
    assert [row[:2] for row in run.rows] == [(3, 5)]


def test_disorder_within_the_delay_is_put_in_order() -> None:
    run = live(PAIR)
    run.take(S, 5, 5, triples(":x :b 2 ."))
    run.pass_to(2)
    run.take(S, 3, 3, triples(":x :a 1 ."))
    run.take(S, 2, 2, triples(":x :a 0 ."))
    run.pass_to(FAR)
    assert sorted(row[:2] for row in run.rows) == [(2, 5), (3, 5)]


def test_what_is_behind_the_watermark_takes_no_part_and_is_reported() -> None:
    run = live(PAIR)
    run.pass_to(4)
    run.times(3, 5, 4, -7)
    run.take(S, 3, 3, triples(":x :a 1 ."))
    run.take(S, 5, 5, triples(":x :b 2 ."))
    run.pass_to(FAR)
    assert run.rows == []
    assert run.late == [([3, -7], 4)]


def test_before_the_first_watermark_nothing_is_late() -> None:
    run = live(PAIR)
    run.times(-5, 0)
    run.take(S, -5, -5, triples(":x :a 1 ."))
    run.take(S, 0, 0, triples(":x :b 1 ."))
    run.pass_to(1)
    assert run.late == [] and [row[:2] for row in run.rows] == [(-5, 0)]


def test_state_is_let_go_when_nothing_can_come_of_it() -> None:
    run = live(PAIR)
    run.take(S, 3, 3, triples(":x :a 1 ."))
    assert run.state() is not None
    run.pass_to(8)
    assert run.state() is not None
    run.pass_to(20)
    assert run.state() is None, "the window of the only run has closed"


def test_state_stays_small_over_a_long_stream() -> None:
    run = live(PAIR)
    sizes = []
    for time in range(1, 600, 3):
        run.take(S, time, time, triples(f":x :a {time} ."))
        run.pass_to(time)
        sizes.append(len(run.state() or b""))
    assert max(sizes[20:]) <= max(sizes[:20]) + 100


def test_an_answered_question_is_not_answered_again() -> None:
    run = live(PAIR.replace("SELECT ?v ?w", "ASK"))
    for time in range(1, 20, 2):
        run.take(S, time, time, triples(f":x :a {time} ."))
        run.take(S, time + 1, time + 1, triples(f":x :b {time} ."))
        run.pass_to(time + 2)
    run.pass_to(FAR)
    assert run.rows == [(1, 2, True)]
    assert run.state() is None


def test_datetimes_are_told_to_spark_in_milliseconds() -> None:
    query = parse(PAIR.replace("WITHIN 10", "WITHIN 10 s"), "spaseq")
    run = Live(query, job_of(query, kind=TimeKind.DATETIME, live=True))
    run.take(S, 3_000_400, 3_000_400, triples(":x :a 1 ."))
    run.take(S, 3_000_700, 3_000_700, triples(":x :b 1 ."))
    run.pass_to(3_000)
    assert run.rows == []
    run.pass_to(3_001)
    assert len(run.rows) == 1


def test_the_state_of_another_query_stops_the_run() -> None:
    run, other = live(PAIR), live(PAIR.replace("WITHIN 10", "WITHIN 11"))
    run.take(S, 3, 3, triples(":x :a 1 ."))
    other.tester.updateValueState("kernel", other.key(0), (run.state(),))
    with pytest.raises(ValueError, match="another query"):
        other.take(S, 4, 4, triples(":x :b 1 ."))


@pytest.mark.parametrize("form", [1, 2, 3, 4])
def test_state_under_the_keys_of_a_version_before_is_found_and_refused(form: int) -> None:
    """A run whose checkpoint Spark alone knows: where the version before kept whose state it is, this one looks too."""
    query = parse(PAIR, "spaseq")
    identity = Identity.of(query.program, RunOptions(), TimeKind.INTEGER, (IRI(S),), PAIR, 7)
    run = Live(query, replace(job_of(query, 7, live=True), identity=identity))
    kept = {**json.loads(identity.written()), "form": form}
    run.tester.updateValueState("kernel", -2 * 7 - 1, (json.dumps(kept).encode(),))
    with pytest.raises(DataError, match=f"the checkpoint holds state in form {form}") as error:
        run.times(3)
    assert error.value.code == "other-version"
