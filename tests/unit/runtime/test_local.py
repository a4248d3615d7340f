from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from scepter import parse
from scepter.cases.source import TimelineSource
from scepter.errors import DataError, OptionError, QueryError
from scepter.io.sources import FileSource, open_source
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import BATCH_BYTES
from scepter.rdf.timeline_notation import parse_timeline
from scepter.runtime.local import Progress, run_in_parts, run_local
from scepter.runtime.options import RunOptions

S, T = "http://e/s", "http://e/t"
QUERY = f"""PREFIX : <http://e/> SELECT ?x ?y WITHIN 100 SLIDING FROM STREAM S <{S}>
WHERE {{ SEQ (A; B) DEFINE GPM A ON S {{ ?x :a ?v }} DEFINE GPM B ON S {{ ?y :b ?w }} }}"""
BOTH = f"""PREFIX : <http://e/> SELECT ?x ?y WITHIN 100 SLIDING FROM STREAM S <{S}> FROM STREAM T <{T}>
WHERE {{ SEQ (A; B) DEFINE GPM A ON S {{ ?x :a ?v }} DEFINE GPM B ON T {{ ?y :b ?w }} }}"""


def timeline(text: str) -> TimelineSource:
    return TimelineSource("t", parse_timeline(text, {"": "http://e/"}))


def test_input_in_any_order_gives_matches_in_order() -> None:
    # time  1  2  3  4
    # S     a  b  a  b   (read as 4 3 2 1)
    source = timeline("4 { :d :b 1 } 3 { :c :a 1 } 2 { :b :b 1 } 1 { :a :a 1 }")
    matches = list(run_local(parse(QUERY), {S: source}))
    assert [(m.start, m.end) for m in matches] == [(1, 2), (3, 4)]


def test_two_streams_are_merged_by_time() -> None:
    left, right = timeline("1 { :a :a 1 } 30 { :c :a 1 }"), timeline("2 { :b :b 1 } 40 { :d :b 1 }")
    assert [(m.start, m.end) for m in run_local(parse(BOTH), {S: left, T: right})] == [(1, 2), (30, 40)]


def test_events_are_shown_by_the_names_the_timeline_gives_them() -> None:
    (match,) = run_local(parse(QUERY), {S: timeline("1 { :a :a 1 } 2 { :b :b 1 }")})
    assert match.events == {"A": ["e1"], "B": ["e2"]}


def test_without_a_usable_event_the_dead_letters_are_still_told(tmp_path: Path) -> None:
    path = tmp_path / "broken.nq"
    path.write_text("this is no quad\n<http://e/a> <http://e/p> <http://e/o> <http://e/untimed> .\n")
    letters: list[DeadLetter] = []
    with pytest.raises(DataError, match="no event of the input has a time"):
        list(run_local(parse(QUERY), {S: open_source(str(path))}, dead_letter=letters.append))
    assert [letter.line for letter in letters] == [1, 2]


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty.nq"
    path.write_text("")
    assert list(run_local(parse(QUERY), {S: open_source(str(path))})) == []


def test_what_is_later_than_allowed_is_told_and_left_out() -> None:
    # arrival  10  20  14  15      delay 5: at 20 the watermark is 15
    # kind      a   b   b   b
    source = timeline("10 { :a :a 1 } 20 { :x :b 1 } 14 { :y :b 1 } 15 { :z :b 1 }")
    letters: list[DeadLetter] = []
    options = RunOptions.of(max_delay=5)
    matches = list(run_local(parse(QUERY), {S: source}, options=options, dead_letter=letters.append))
    assert [(m.start, m.end) for m in matches] == [(10, 15)]
    assert [letter.reason for letter in letters] == ["late: 14 is behind the watermark 15"]


def test_a_delay_of_a_fraction_of_a_time_unit_is_an_option_error() -> None:
    with pytest.raises(OptionError, match="max_delay: 500 us is no whole number") as caught:
        run_local(parse(QUERY), {S: timeline("1 { :a :a 1 }")}, options=RunOptions.of(max_delay="500us"))
    assert caught.value.diagnostic.code == "duration"


def test_a_stream_nobody_gave_is_an_error_before_reading() -> None:
    with pytest.raises(QueryError, match="none was given"):
        run_local(parse(BOTH), {S: timeline("1 { :a :a 1 }")})


def test_long_input_moves_on_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.nq"
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    with path.open("w") as out:
        for i in range(150_000):
            kind = "a" if i % 1000 == 0 else "b" if i % 1000 == 1 else "c"
            out.write(f"<http://e/x> <http://e/{kind}> {number.format(i)} <http://e/e{i}> .\n")
            out.write(f"<http://e/e{i}> <http://www.w3.org/ns/prov#generatedAtTime> {number.format(i)} .\n")
    told: list[Progress] = []
    found = run_local(parse(QUERY), {S: open_source(str(path))}, progress=told.append)
    next(found)
    assert 0 < told[-1].done < told[-1].total
    assert 1 + sum(1 for _ in found) == 150
    assert told[-1].triples == 300
    assert all(later.done >= earlier.done for earlier, later in itertools.pairwise(told))


def test_where_many_partial_matches_wait_time_moves_on_in_longer_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.runtime.local.STEP_EVENTS", 3_000)
    monkeypatch.setitem(FileSource.batches.__kwdefaults__ or {}, "batch_bytes", BATCH_BYTES)  # a step is a batch at least
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'

    def steps(kind: str) -> int:
        path = tmp_path / f"{kind}.nq"
        with path.open("w") as out:
            for i in range(40_000):
                out.write(f"<http://e/x> <http://e/{kind}> {number.format(i)} <http://e/e{i}> .\n")
                out.write(f"<http://e/e{i}> <http://www.w3.org/ns/prov#generatedAtTime> {number.format(i)} .\n")
        parts = list(run_in_parts(parse(QUERY.replace("100", "100000")), {S: open_source(str(path))}))
        assert not any(map(len, parts))
        return len(parts)

    assert steps("a") < steps("c") / 1.5  # each :a waits for a :b, nothing waits for a :c
