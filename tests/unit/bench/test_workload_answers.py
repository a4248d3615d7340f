"""Small sizes of the workloads: engine, plain loop and hand-written query give one answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from scepter.bench.contenders import contender
from scepter.bench.contenders.local import BYTES
from scepter.bench.contenders.push import LATE, MEDIAN
from scepter.bench.model import LOAD, SCAN, Point, Room
from scepter.bench.shapes.offers import Offers, write_producers
from scepter.bench.shapes.parcels import PATTERNS, Items
from scepter.bench.shapes.rooms import Observations
from scepter.bench.shapes.stocks import Ticks
from scepter.bench.workloads import (
    epsparql,
    epsparql_forms,
    epsparql_rules,
    lift,
    obep_rooms,
    output,
    push,
    rsepql_forms,
    rsepql_policies,
    scan,
    sensors,
    spark,
    spark_languages,
    sparkwave,
    spaseq_kleene,
    together,
    use_cases,
)
from scepter.bench.workloads.spaseq_clauses import points as clauses
from scepter.bench.workloads.spaseq_clauses import pushed
from scepter.bench.workloads.spaseq_strict import HEAD_AND_SHOULDERS, V_SHAPE
from scepter.bench.workloads.spaseq_strict import points as strict


class Small(Room):
    """A room in which everything is small."""

    def size(self, full: int, quick: int) -> int:
        return min(quick, 2_000)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Small(tmp_path, quick=True)


def agree(point: Point, *, least: int = 1) -> None:
    assert point.answers >= least, point.at
    names = [
        *(name for name in point.contenders if name != "spark"),
        *(name for name in point.yardsticks if name != "spark-join"),
    ]
    for name in names:
        if name != "flink":
            assert contender(name)(point).answers == point.answers, (name, point.at)


@pytest.mark.parametrize("case", use_cases.MINUTES)
def test_use_cases(room: Room, case: str) -> None:
    agree(use_cases.point(room, case, use_cases.MINUTES[case], 3_000, case))


@pytest.mark.parametrize("events", [3_001, 3_016])
def test_roads_that_stop_reporting_within_a_minute(room: Room, events: int) -> None:
    agree(use_cases.point(room, "traffic", 30, events, events))


@pytest.mark.parametrize("pattern", [*PATTERNS, "E1 SEQ RECENT E2 SEQ RECENT E3"])
def test_policies(room: Room, pattern: str) -> None:
    agree(rsepql_policies.point(room, pattern, Items.drawn(1_000, 20), "items", 100, pattern))


@pytest.mark.parametrize("pattern", sparkwave.PATTERNS)
def test_patterns_over_offers(room: Room, pattern: int) -> None:
    [point, *_] = sparkwave.windows(room, pattern)
    offers = Offers.drawn(2_000)
    assert point.answers == offers.count(1, vendors=pattern > 1, producers=pattern > 2)
    agree(point, least=0 if pattern == 3 else 1)
    assert Path(point.background["http://bsbm.example/static"]).stat().st_size > 0
    write_producers(room.folder / "again.nt", 50_000)
    assert (room.folder / "again.nt").read_text("utf-8").count("\n") == 50_000


def test_entailment_against_assertion_and_times_on_triples(room: Room) -> None:
    for point in sparkwave.forms(room):
        agree(point)


@pytest.mark.parametrize("people", [0, 2])
def test_rooms(room: Room, people: int) -> None:
    agree(obep_rooms.observed(room, "some", Observations.drawn(1_000, 20, people), 20))


@pytest.mark.parametrize("conditions", [V_SHAPE, HEAD_AND_SHOULDERS], ids=["v-shape", "head and shoulders"])
def test_strict_contiguity(tmp_path: Path, conditions: tuple[str, ...]) -> None:
    [_, point, *_] = strict(Room(tmp_path, quick=True), conditions)
    agree(point)


def test_stock_sequences(room: Room) -> None:
    workloads = {workload.name: workload for workload in spaseq_kleene.WORKLOADS}
    for name in ("spaseq-kleene", "spaseq-plain", "spaseq-any"):
        agree(list(workloads[name].points(room))[1])
    for point in chain(clauses(room, strict=True), clauses(room, strict=False)):
        agree(point, least=0 if point.at == 9 else 1)


def test_ep_sparql(room: Room) -> None:
    for points in (epsparql.sequences, epsparql.counted):
        agree(next(points(room)))


@pytest.mark.parametrize("points", [epsparql_forms.forms, epsparql_forms.many, epsparql_rules.closures])
def test_forms_of_ep_sparql(room: Room, points: Callable[[Room], Iterator[Point]]) -> None:
    for point in points(room):
        agree(point)


def test_forms_of_rsep_ql(room: Room) -> None:
    for point in rsepql_forms.points(room):
        agree(point, least=0 if point.at == "ASK" else 1)


def test_composites_of_obep(room: Room) -> None:
    for point in obep_rooms.composites(room):
        agree(point)


def test_rows_that_are_written(room: Room) -> None:
    for point in chain(output.v_shape(room), output.against_sql(room)):
        agree(point)
        assert contender("written")(point).extra[BYTES] > 50 * point.answers


def test_windows_over_sensors(room: Room) -> None:
    for point in chain(sensors.averages(room), sensors.joins(room, sizes=(10_000, 100_000))):
        agree(point)


def test_push_in_every_language(room: Room) -> None:
    for point in push.languages(room):
        agree(point)


def test_matches_pushed_and_queries_together(room: Room) -> None:
    for points in (together.delays, together.together, pushed):
        for point in points(room):
            (name,) = point.contenders
            assert point.answers and contender(name)(point).answers == point.answers, (point.at, point.line)


def test_what_the_engine_tells(room: Room) -> None:
    [point, *_] = clauses(room, strict=True)
    outcome = contender("local")(point)
    assert set(outcome.extra) == {LOAD, SCAN}
    assert all(seconds > 0 for seconds in outcome.extra.values())


def test_scan_and_push(room: Room) -> None:
    for point in [*scan.points(room), *lift.points(room)]:
        agree(point)
    given = next(push.points(room))
    outcome = contender("push")(given)
    assert outcome.answers == 0
    assert outcome.state is not None and outcome.state >= given.events
    assert 0 < outcome.extra[MEDIAN] <= outcome.extra[LATE]


def test_a_line_that_is_no_triple_is_no_answer(room: Room) -> None:
    point = next(scan.points(room))
    [(stream, path)] = point.streams.items()
    with open(path, "a", encoding="utf-8") as out:
        out.write("nonsense\n")
    assert contender("scan")(point).answers == -1
    assert (
        contender("pyoxigraph")(replace(point, streams={stream: room.file("short", partial(scan.write, events=1))})).answers
        == -1
    )


def test_ticks_are_the_same_for_the_same_seed() -> None:
    first, again = Ticks.drawn(500), Ticks.drawn(500)
    assert first.company.tolist() == again.company.tolist()
    assert first.cents.tolist() == again.cents.tolist()
    assert first.cents.min() > 0


@pytest.mark.parametrize("points", [spark_languages.points, spark_languages.long_runs, spark.micro_batches])
def test_live_workloads_in_one_process(room: Room, points: Callable[[Room], Iterator[Point]]) -> None:
    """Their streams in files, a micro-batch each: Spark itself takes minutes."""
    for point in points(room):
        names = [name for name in point.contenders if name in ("local", "tasks")] or ["local"]
        agree(replace(point, contenders=tuple(names)), least=0)
