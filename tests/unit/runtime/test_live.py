"""Live input in this process: however its text comes, the answers are those over the whole of it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scepter.physical.distribution.horizon import horizon
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import load_background
from scepter.runtime.live import LiveInput, LiveRun
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import Query, parse
from scepter.timeline import MIN_INSTANT, TimeKind

S = "http://e/s"
NUMBER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
PREFIX = "PREFIX : <http://e/>\n"
QUERIES = {
    "spaseq": "SELECT ?x ?y WITHIN 6 SLIDING FROM STREAM S <http://e/s> WHERE { SEQ (A ; B) "
    "DEFINE GPM A ON S { :a :v ?x } DEFINE GPM B ON S { :a :v ?y FILTER (?y > ?x) } }",
    "ep-sparql": "SELECT ?x ?y WHERE { { :a :v ?x } SEQ { :a :v ?y } FILTER (?x < ?y && getDURATION() < 6) }",
    "optional": "SELECT ?x ?y WHERE { :a :v ?x OPTIONAL { :a :w ?y } FILTER (getDURATION() < 4) }",
    "rsep-ql": "REGISTER RSTREAM :o AS SELECT ?x FROM NAMED :s WIN [RANGE 4 STEP 2] AS :w WHERE { WINDOW :w { :a :v ?x } }",
    "sparkwave": "SELECT ?x ?y FROM STREAM <http://e/s> [RANGE 5] WHERE { :a :v ?x . :a :w ?y }",
}
EVENTS = st.lists(st.tuples(st.integers(1, 12), st.sampled_from("vw"), st.integers(1, 3)), min_size=1, max_size=12)


def query_of(name: str) -> Query:
    language = {"optional": "ep-sparql"}.get(name, name)
    return parse(PREFIX + QUERIES[name], language)


def line(time: int, property: str, value: int) -> bytes:
    return f'<http://e/a> <http://e/{property}> "{value}"{NUMBER} "{time}"{NUMBER} .\n'.encode()


def answers(query: Query, chunks: list[bytes], **options: object) -> tuple[list[str], list[str]]:
    letters: list[DeadLetter] = []
    engine = LocalEngine(query.program, RunOptions.of(**options), load_background(query, None))  # type: ignore[arg-type]
    input = LiveInput(S)
    reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, letters.append, run=engine.reading, batch_bytes=1)
    run = LiveRun(engine, (input,), letters.append, lambda: 0)
    found: list[Match] = []
    for chunk in chunks:
        batch = reader.feed(chunk)
        run.take(input, [] if batch is None else [batch])
        found += run.advance()
    input.ended = True
    found += run.finish()
    return sorted(str(match.row()) for match in found), [letter.reason for letter in letters]


def pushed(query: Query, events: list[tuple[int, str, int]], **options: object) -> tuple[list[str], int]:
    engine = Engine(query, **options)  # type: ignore[arg-type]
    found = [m for t, p, v in events for m in engine.push(Event(S, f"<http://e/a> <http://e/{p}> {v} .", t))]
    found += engine.close()
    return sorted(str(match.row()) for match in found), len(engine.late)


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=15, deadline=None)
@given(events=EVENTS, cuts=st.lists(st.integers(0, 900), max_size=6), delay=st.sampled_from([0, 3]))
def test_however_it_comes(name: str, events: list[tuple[int, str, int]], cuts: list[int], delay: int) -> None:
    query = query_of(name)
    text = b"".join(line(*event) for event in events)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    chunks = [text[a:b] for a, b in pairwise(places)]
    expected, late = pushed(query, events, max_delay=delay)
    found, reasons = answers(query, chunks, max_delay=delay)
    assert found == expected
    assert len([reason for reason in reasons if reason.startswith("late")]) == late


def test_an_answer_does_not_wait_for_the_event_after_it() -> None:
    query = query_of("spaseq")
    engine = LocalEngine(query.program, RunOptions(), load_background(query, None))
    input = LiveInput(S)
    reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, lambda letter: None, run=engine.reading, batch_bytes=1)
    run = LiveRun(engine, (input,), lambda letter: None, lambda: 0)
    found = []
    for chunk in (line(1, "v", 1), line(2, "v", 2), line(2, "v", 3)):
        batch = reader.feed(chunk)
        assert batch is not None
        run.take(input, [batch])
        found.append(len(run.advance()))
    assert found == [0, 1, 1]  # the second event of an instant adds its own answer, and repeats none


@pytest.mark.parametrize("name", [name for name in QUERIES if name != "optional"])  # how far that one looks back, nobody knows
@settings(max_examples=15, deadline=None)
@given(events=EVENTS, delay=st.sampled_from([0, 3]), data=st.data())
def test_a_run_goes_on_with_the_events_within_its_horizon(
    name: str, events: list[tuple[int, str, int]], delay: int, data: st.DataObject
) -> None:
    query = query_of(name)
    back = horizon(query.program, TimeKind.INTEGER, "s")
    assert back is not None

    def begun(told: int) -> tuple[LiveRun, LiveInput, NQuadsReader]:
        engine = LocalEngine(query.program, RunOptions.of(max_delay=delay), load_background(query, None))
        of = LiveInput(S)
        reader = NQuadsReader(
            engine.key, engine.stream_number(IRI(S)), S, lambda letter: None, run=engine.reading, batch_bytes=1
        )
        return LiveRun(engine, (of,), lambda letter: None, lambda: 0, told), of, reader

    def step(run: LiveRun, of: LiveInput, reader: NQuadsReader, event: tuple[int, str, int]) -> list[str]:
        batch = reader.feed(line(*event))
        run.take(of, [] if batch is None else [batch])
        return [str(match.row()) for match in run.advance()]

    first = begun(MIN_INSTANT)
    run = first[0]
    stop = data.draw(st.integers(1, len(events)))
    told = [(step(*first, event), run.watermark) for event in events[:stop]]
    watermark = run.watermark
    open_instant = Counter(row for rows, reached in told if reached == watermark for row in rows)
    since = MIN_INSTANT if run.last == MIN_INSTANT else run.last - back
    wanted = Counter(row for event in events[stop:] for row in step(*first, event))
    second = begun(watermark)
    kept = [event for number, event in enumerate(events) if event[0] >= since or number >= stop]
    found = Counter(row for event in kept for row in step(*second, event))
    assert not wanted - found
    assert not found - wanted - open_instant  # these an id tells from new ones


def test_a_part_that_is_behind_makes_nothing_late_and_one_that_is_idle_holds_nothing_back() -> None:
    query = query_of("spaseq")
    letters: list[DeadLetter] = []
    engine = LocalEngine(query.program, RunOptions(), load_background(query, None))
    input = LiveInput(S, awaited=(0, 1))
    run = LiveRun(engine, (input,), letters.append, lambda: 0)

    def take(part: int, text: bytes) -> int:
        reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, letters.append, run=engine.reading, batch_bytes=1)
        batches = [batch for batch in (reader.feed(text), reader.finish()) if batch is not None]
        run.take(input, batches, part)
        return len(run.advance())

    assert take(0, line(10, "v", 1) + line(12, "v", 2)) == 0  # the other may have something before
    assert take(1, line(1, "v", 1)) == 0
    assert take(1, line(2, "v", 5)) == 1
    assert run.watermark == 2 and not letters
    assert take(0, line(11, "v", 1)) == 0
    assert [letter.reason for letter in letters] == ["late: 11 is behind the watermark 12"]  # of its own part
    input.awaited = (0,)
    assert len(run.advance()) == 1 and run.watermark == 12
    input.awaited = ()  # where all are idle, time is that of the one ahead
    assert take(1, line(13, "v", 3)) == 1 and run.watermark == 13
    assert len(letters) == 1


FAR = 10**9


def test_live_a_jump_waits_for_the_event_that_confirms_it() -> None:
    query = query_of("optional")
    chunks = [line(time, "v", 1) for time in (1, 2, FAR, 3, 4)]
    found, letters = answers(query, chunks, max_advance=100)
    assert len(found) == 4
    assert letters == [f"{FAR} would move time on by more than 100 (--max-advance), and no other event confirms it"]
    found, letters = answers(query, [*chunks, line(FAR + 7, "v", 1), line(5, "v", 1)], max_advance=100)
    assert len(found) == 6
    assert letters == [f"late: 5 is behind the watermark {FAR + 7}"]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.data())
@settings(deadline=None)
def test_live_jumps_are_those_of_the_same_events_as_one_batch(times: list[int], data: st.DataObject) -> None:
    text = b"".join(line(time, "v", 1) for time in times)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(times)), max_size=4)))
    lines = text.splitlines(keepends=True)
    ends = [b"".join(lines[low:high]) for low, high in pairwise([0, *cuts, len(lines)])]
    given_at_once = answers(query_of("optional"), [text], max_advance=10, max_delay=3)
    assert answers(query_of("optional"), [chunk for chunk in ends if chunk], max_advance=10, max_delay=3) == given_at_once


def test_live_the_event_that_makes_others_late_is_told(caplog: pytest.LogCaptureFixture) -> None:
    answers(query_of("optional"), [line(time, "v", 1) for time in (1, 2, 3, FAR, 4, 5)])
    assert [text for text in caplog.messages if f"the event at 4 is late because one at {FAR}" in text]
