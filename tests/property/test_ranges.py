"""Any set of cuts gives the events and the dead letters of one read."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from batches import KEY, PROV, Event, at_time, events_of, integer, quad, unsalted
from scepter.rdf.batch import DeadLetter
from scepter.runtime.spark.range_reading import read_range
from scepter.runtime.spark.ranges import Range
from scepter.timeline import TimeKind

NAMES = st.sampled_from(["a", "b", "\\u0061", "é☃"])
LINES = st.one_of(
    NAMES.map(quad),
    st.tuples(NAMES, st.sampled_from(['"é😀"', "_:x", '"q\\"\\u00e9"@EN'])).map(lambda pair: quad(pair[0], object=pair[1])),
    st.tuples(NAMES, st.integers(0, 3)).map(lambda pair: at_time(*pair)),
    NAMES.map(lambda name: f"<http://e/{name}> <{PROV}endedAtTime> {integer(1)} .\n"),
    st.integers(0, 3).map(lambda time: f"<http://e/s> <http://e/p> _:x {integer(time)} .\n"),
    st.sampled_from(
        ["\n", "# comment\n", "rubbish\n", "<http://e/s> <http://e/p> <http://e/o> .\n", '<a:s> <a:p> "open <a:g> .\n']
    ),
    st.just('<http://e/s> <http://e/p> <http://e/o> "never" .\n'),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def read(path: Path, edges: list[int], size: int) -> tuple[list[Event], list[tuple[str, str]], int]:
    letters: list[DeadLetter] = []
    events: list[Event] = []
    for start, stop in pairwise(edges):
        part = Range(str(path), start, stop, size, salt=start)
        events += events_of(read_range(part, KEY, 0, letters.append, kind=TimeKind.INTEGER, batch_bytes=50))
    labels = {term for *_, triples in events for triple in triples for term in triple if term.startswith("_:")}
    return unsalted(events), [(letter.reason, letter.text) for letter in letters], len(labels)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(LINES, ENDS), max_size=14), st.booleans(), st.lists(st.floats(0, 1), max_size=8))
def test_cuts_change_nothing(lines: list[tuple[str, str]], open_end: bool, cuts: list[float]) -> None:
    text = "".join(line.replace("\n", end) for line, end in lines)
    data = (text.rstrip("\r\n") if open_end else text).encode()
    edges = [0, *sorted(int(cut * len(data)) for cut in cuts), len(data)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.nq"
        path.write_bytes(data)
        assert read(path, edges, len(data)) == read(path, [0, len(data)], len(data))
