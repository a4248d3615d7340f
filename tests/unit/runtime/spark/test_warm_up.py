"""With what a live run begins: times that its streams hold, and where sources begin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from batches import at_time, quad
from buckets import job_of
from scepter.errors import OptionError
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.beginning import Beginning
from scepter.runtime.spark.event_rows import event_schema
from scepter.runtime.spark.folder import Folder, Limits, list_files
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.pushdown import Packing
from scepter.runtime.spark.source import EventStreamReader, Settings
from scepter.runtime.spark.warm_up import Place, Timed, began, begin_at, looked_back, measured, places_of, reached, told_line
from scepter.timeline import MIN_INSTANT, TimeKind

QUERY = (
    "SELECT ?x WITHIN 10 FROM STREAM S <http://e/s> FROM STREAM T <http://e/t> "
    "WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x <http://e/p> ?o } DEFINE GPM B ON T { ?x <http://e/q> ?o } }"
)


def job(text: str = QUERY, **options: str | int) -> Job:
    return job_of(parse(text, "spaseq"), 4, options=RunOptions.of(**{"warm_up": "auto", **options}), live=True)  # type: ignore[arg-type]


def timed(stream: int, first: int, last: int, below: int | None = None) -> Timed:
    return Timed(Place(stream, "f", 0, 1, 1, ""), first, last, below)


def test_time_is_where_the_stream_that_is_behind_is_or_the_one_ahead() -> None:
    both = [timed(0, 1, 50), timed(0, 2, 40), timed(1, 5, 30)]
    assert reached(job(), both) == 30
    assert reached(job(max_delay=7), both) == 23
    assert reached(job(idle_streams="ignore"), both) == 50


def test_nothing_is_certain_while_a_stream_is_empty() -> None:
    assert reached(job(), [timed(0, 1, 50)]) == MIN_INSTANT
    assert began([timed(0, 1, 50)], MIN_INSTANT, 10) == Beginning()
    assert "all of it is read" in told_line(job(), Beginning(), [])


def test_a_run_begins_a_horizon_before_the_last_event_before_now() -> None:
    """time   3  10  20 | 25 (now)  30: nothing between 20 and now."""
    assert began([timed(0, 3, 10), timed(1, 20, 20), timed(0, 25, 30)], 25, 11) == Beginning(9, 25)
    assert began([timed(0, 3, 30, below=20)], 25, 11) == Beginning(9, 25)
    assert began([timed(0, 30, 40)], 25, 11) == Beginning(MIN_INSTANT, 25)
    assert began([timed(0, 3, 20)], 25, None) == Beginning(MIN_INSTANT, 25)


def test_how_far_back_the_query_tells_or_the_option() -> None:
    assert looked_back(job()) == 11
    assert looked_back(job(warm_up="1s")) == 1000
    endless = QUERY.replace("WITHIN 10 ", "")
    assert looked_back(job(endless, start=5)) is None
    with pytest.raises(OptionError) as caught:
        looked_back(job(endless))
    assert caught.value.code == "warm-up" and "warm_up=1h" in str(caught.value)
    assert looked_back(job(endless, warm_up="1s")) == 1000


def test_it_does_not_go_with_times_that_nobody_believes() -> None:
    with pytest.raises(OptionError, match="max_advance"):
        looked_back(job(max_advance="1h"))


def events(*times: int) -> str:
    return "".join(at_time(f"e{t}", t) + quad(f"e{t}", "<http://e/x>", "<http://e/p>", f'"{t}"') for t in times)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Settings]:
    for name, times in {"a.nq": (1, 2, 3), "b.nq": (4, 30, 5), "c.nq": (28, 40)}.items():
        (tmp_path / name).write_text(events(*times))
    settings = Settings.of({"path": str(tmp_path), "timestamps": "integer"})
    yield replace(settings, packing=Packing.of(job(), 0))


def times_of(settings: Settings, until: int | None = None) -> list[Timed]:
    places = [place._asdict() for place in places_of(settings, 0)]
    found = measured({0: settings}, until, [pa.RecordBatch.from_pylist(places)])
    rows = [row for batch in found for row in batch.to_pylist()]
    return [Timed(Place(**row["place"]), row["first"], row["last"], row["below"]) for row in rows]


def test_the_times_of_files(source: Settings) -> None:
    assert [(each.first, each.last, each.below) for each in times_of(source)] == [(1, 3, None), (4, 30, None), (28, 40, None)]
    assert [each.below for each in times_of(source, 30)] == [3, 5, 28]


def test_files_without_anything_of_the_beginning_are_left_out(source: Settings) -> None:
    begin = begin_at(source, 0, places_of(source, 0), times_of(source), Beginning(20, 40))
    reader = EventStreamReader(replace(source, begin=json.loads(begin)), event_schema(TimeKind.INTEGER, names=False))
    offset = reader.initialOffset()
    assert [Path(path).name for path in offset["files"]] == ["a.nq"]
    folder = Folder(1 << 60, TimeKind.INTEGER)
    after = folder.advance(offset, list_files(source.sources), Limits())
    read = folder.ranges(offset, after, 1 << 20)
    assert [Path(part.path).name for part in read] == ["b.nq", "c.nq"]
    assert folder.advance(after, list_files(source.sources), Limits()) is after


def test_a_file_that_has_changed_since_is_read(source: Settings) -> None:
    places, times = places_of(source, 0), times_of(source)
    (Path(source.sources[0]) / "a.nq").write_text(events(1, 2, 3, 41))
    assert json.loads(begin_at(source, 0, places, times, Beginning(20, 40)))["files"] == {}


def test_a_large_file_is_read_from_its_first_piece_with_something(source: Settings) -> None:
    pieces = [Place(0, "/f", start, start + 10, 30, ".nq") for start in (0, 10, 20)]
    times = [Timed(pieces[0], 1, 2, None), Timed(pieces[1], 3, 50, None), Timed(pieces[2], 4, 5, None)]
    topic = replace(source, sources=("kafka://h:1/t",))
    assert json.loads(begin_at(topic, 0, pieces, times, Beginning(20, 40))) == {"/f": 10}
    assert json.loads(begin_at(topic, 0, pieces, times, Beginning(60, 70))) == {"/f": 30}
