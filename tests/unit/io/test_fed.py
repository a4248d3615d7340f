"""Rows and documents that come piece by piece: the same events as from a file, each as soon as it is whole."""

from __future__ import annotations

import gzip
import io
import json
import random

import pytest

from batches import KEY, Event, events_of
from scepter.errors import OptionError
from scepter.io.fed import Fed
from scepter.lift.load import load_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.batch import DeadLetter
from scepter.rdf.files import read_pipe
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Reading

MAPPING = """
prefixes: {ex: "http://example/"}
time: $(time)
mappings:
  reading: {s: "ex:$(sensor)", po: [[ex:value, $(value), xsd:integer]]}
"""
CSV = b"sensor,time,value\n" + b"".join(f'"s\n{i % 3}",{i},{7 * i}\n'.encode() for i in range(1, 200))
LINES = b"".join(json.dumps({"sensor": f"s{i % 3}", "time": i, "value": i}).encode() + b"\n" for i in range(1, 200))
LIFT = MappedReaders(load_mapping(MAPPING))


def reading(letters: list[DeadLetter]) -> Reading:
    return Reading(KEY, 0, "f", letters.append, None, ReadState(), BATCH_BYTES, {}, LIFT)


def whole(text: bytes) -> list[Event]:
    letters: list[DeadLetter] = []
    found = events_of(read_pipe(io.BytesIO(text), reading(letters)))
    assert not letters and found
    return found


@pytest.mark.parametrize("text", [CSV, LINES, gzip.compress(CSV)], ids=["csv", "json lines", "gzipped"])
@pytest.mark.parametrize("seed", range(5))
def test_however_it_is_cut_the_events_are_those_of_the_whole(text: bytes, seed: int) -> None:
    draw, letters = random.Random(seed), list[DeadLetter]()
    fed, batches, at = Fed(reading(letters), LIFT), [], 0
    while at < len(text):
        size = draw.choice([1, 7, 300])
        batches += fed.feed(text[at : at + size])
        at += size
    batches += fed.finish()
    assert events_of(iter(batches)) == whole(text) and not letters
    assert fed.finish() == []


def test_a_row_is_an_event_once_its_line_ends() -> None:
    letters: list[DeadLetter] = []
    fed = Fed(reading(letters), LIFT)
    assert [fed.feed(piece) for piece in (b"sensor,ti", b"me,value\n", b"a,1,")] == [[], [], []]
    assert [batch.end.tolist() for batch in fed.feed(b"5\nb,2,6\nc,")] == [[1, 2]]
    assert [batch.end.tolist() for batch in fed.feed(b"x,1\n")] == [] and letters[0].line == 4
    assert [batch.end.tolist() for batch in fed.feed(b"c,9,9")] == []
    assert [batch.end.tolist() for batch in fed.finish()] == [[9]]


def test_a_document_is_an_event_once_its_line_ends() -> None:
    letters: list[DeadLetter] = []
    fed = Fed(reading(letters), LIFT)
    assert fed.feed(b'{"sensor": "a", "time": 1, "va') == []
    assert [batch.end.tolist() for batch in fed.feed(b'lue": 5}\n')] == [[1]]
    assert fed.feed(b'{"sensor": "a", "time"\n') == [] and letters[0].line == 2
    assert [batch.end.tolist() for batch in fed.feed(b'{"sensor": "b", "time": 3, "value": 5}\n')] == [[3]]


def test_what_a_reader_raises_is_raised_where_it_was_fed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: object) -> None:
        raise OptionError.__new__(OptionError)

    monkeypatch.setattr("scepter.io.fed.read_pipe", refused)
    fed = Fed(reading([]), LIFT)
    with pytest.raises(OptionError):
        fed.feed(CSV)
