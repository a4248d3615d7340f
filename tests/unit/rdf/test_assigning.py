"""Times for events that have none."""

from __future__ import annotations

import pytest

from scepter.errors import OptionError
from scepter.rdf.assigning import AssignTime, TimeAssigner
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.times import TimeProperties
from scepter.timeline import TimeKind

LINE = "<a:s> <a:p> {} .\n"
GRAPH = "<a:s> <a:p> {} <a:{}> .\n"
TIME = '<a:{}> <http://www.w3.org/ns/prov#generatedAtTime> "{}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'


def read(text: str, per: str = "line", how: str = "sequence") -> tuple[list[tuple[int, int]], list[str]]:
    """(time, triples) of each event, and the reasons of what was refused; whole and byte by byte."""
    found = [_read([text.encode()], per, how), _read([bytes([byte]) for byte in text.encode()], per, how)]
    assert found[0] == found[1]
    return found[0]


def _read(chunks: list[bytes], per: str, how: str) -> tuple[list[tuple[int, int]], list[str]]:
    letters: list[DeadLetter] = []
    run = ReadState(assign=AssignTime(how, per, clock=lambda: 100))
    reader = NQuadsReader(TermKey.fixed(), 0, "s", letters.append, run=run, batch_bytes=1)
    batches: list[EventBatch | None] = [reader.feed(chunk) for chunk in chunks]
    batches.append(reader.finish())
    found = [
        (int(end), int(size))
        for batch in batches
        if batch is not None
        for end, size in zip(batch.end, batch.first[1:] - batch.first[:-1], strict=True)
    ]
    return found, [letter.reason for letter in letters]


def test_each_line_is_an_event() -> None:
    assert read(LINE.format("1" and "<a:x>") + LINE.format('"a . b"@en') + LINE.format("_:b.c")) == (
        [(1, 1), (2, 1), (3, 1)],
        [],
    )


def test_a_group_up_to_a_blank_line_is_an_event() -> None:
    text = LINE.format("<a:x>") + LINE.format("<a:y>") + "\n" + LINE.format("<a:z>")
    assert read(text, "group") == ([(1, 2), (2, 1)], [])
    assert read(text) == ([(1, 1), (2, 1), (3, 1)], [])


def test_a_graph_without_a_time_gets_one() -> None:
    text = GRAPH.format("<a:x>", "g1") + GRAPH.format("<a:y>", "g1") + GRAPH.format("<a:z>", "g2")
    assert read(text) == ([(1, 2), (2, 1)], [])


@pytest.mark.parametrize("first", [True, False])
def test_an_event_that_has_a_time_keeps_it(first: bool) -> None:
    time, graph = TIME.format("g1", 7), GRAPH.format("<a:x>", "g1")
    assert read((time + graph if first else graph + time) + GRAPH.format("<a:z>", "g2")) == ([(7, 1), (1, 1)], [])
    assert read('<a:s> <a:p> <a:o> "9"^^<http://www.w3.org/2001/XMLSchema#integer> .\n') == ([(9, 1)], [])


def test_a_line_that_is_cut_off_is_refused() -> None:
    found, reasons = read(LINE.format("<a:x>") + "<a:s> <a:p> <a:o")
    assert found == [(1, 1)] and len(reasons) == 1


def test_arrival_is_the_clock_and_never_goes_back() -> None:
    clock = iter([50, 40, 90])
    assign = AssignTime("arrival", clock=lambda: next(clock))
    assert [assign.next() for _ in range(3)] == [50, 51, 90]
    assert assign.kind is TimeKind.DATETIME
    assert read(LINE.format("<a:x>") * 2, how="arrival") == ([(100, 1), (101, 1)], [])


def test_times_inside_the_graph_count() -> None:
    times = TimeProperties.of("http://e/at")
    assigner = TimeAssigner(AssignTime("sequence"), times)
    text = b'<a:s> <http://e/at> "7"^^<http://www.w3.org/2001/XMLSchema#integer> <a:g> .\n'
    assert assigner.feed(text) + assigner.finish() == text


@pytest.mark.parametrize(("how", "per", "message"), [("arrivl", None, "did you mean arrival"), (None, "group", "assign_time")])
def test_what_is_refused(how: str | None, per: str | None, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        AssignTime.of(how, per)
    assert message in str(caught.value)
