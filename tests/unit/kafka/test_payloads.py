from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest

from batches import KEY, at_time, events_of, integer, quad
from scepter.errors import OptionError
from scepter.kafka.address import Address
from scepter.kafka.messages import Span, shared
from scepter.kafka.payloads import Payloads, looks_like, unknown_format
from scepter.kafka.topic import cut
from scepter.lift.load import read_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.assigning import AssignTime
from scepter.rdf.batch import DeadLetter
from scepter.rdf.messages import UNNAMED
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import Reading

ADDRESS = Address("localhost:9092", "readings")


@dataclass(frozen=True)
class Sent:
    """A message that no broker has seen."""

    text: bytes | None
    at: int = 0

    def value(self) -> bytes | None:
        return self.text

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self.at

    def timestamp(self) -> tuple[int, int]:
        return (1, self.at)

    def headers(self) -> list[tuple[str, bytes]]:
        return []

    def error(self) -> None:
        return None


class Unstamped(Sent):
    """A message without a time."""

    def timestamp(self) -> tuple[int, int]:
        return (0, -1)


def read(texts: Sequence[str | bytes | None], format: str = ".nq", batch_bytes: int = 1 << 20, hand: int = 1000) -> tuple[
    list[tuple[int, int, str | None, list[tuple[str, str, str]]]], list[DeadLetter]
]:  # fmt: skip
    letters: list[DeadLetter] = []
    reading = Reading(KEY, 0, ADDRESS.name, letters.append, None, ReadState(), batch_bytes, {})
    sent = [Sent(text.encode() if isinstance(text, str) else text, 100 + at) for at, text in enumerate(texts)]
    hands = [sent[at : at + hand] for at in range(0, len(sent), hand)]
    return events_of(Payloads(ADDRESS, format, reading).batches(hands)), letters


def told(name: str, time: int, **triple: str) -> str:
    return at_time(name, time) + quad(name, **triple)


def test_messages_of_one_name_are_events_of_their_own() -> None:
    found, letters = read([told("e", 1), told("e", 1, object="<http://e/p>"), told("e", 2)])
    assert [(start, len(triples)) for start, _, _, triples in found] == [(1, 1), (1, 1), (2, 1)]
    assert not letters


def test_a_message_of_several_events() -> None:
    found, _ = read([told("a", 1) + told("b", 2), told("b", 3)])
    assert [(start, name) for start, _, name, _ in found] == [(1, "<http://e/a>"), (2, "<http://e/b>"), (3, "<http://e/b>")]


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n", "\n\n"])
def test_what_is_wrong_is_told_with_partition_offset_and_line(end: str) -> None:
    good = told("e", 1).rstrip("\n")
    found, letters = read([good + end, "# a comment\nbroken" + end, good + end, good + "\r\nalso broken" + end])
    assert len(found) == 3
    assert [(letter.source, letter.line, letter.text) for letter in letters] == [
        ("kafka://localhost:9092/readings partition 3 offset 101", 2, "broken"),
        ("kafka://localhost:9092/readings partition 3 offset 103", 3, "also broken"),
    ]


def test_an_event_cut_off_at_the_end_of_its_message_is_not_mended_by_the_next() -> None:
    found, letters = read([at_time("e", 1), quad("e"), told("e", 2)])
    assert [start for start, *_ in found] == [2]
    assert [letter.reason for letter in letters] == ["an event without triples", "an event without a time"]
    assert [letter.source[-3:] for letter in letters] == ["100", "101"]


def test_empty_and_binary_messages() -> None:
    found, letters = read([None, b"", b"\x00\xff\xfe", told("e", 1), b"\x1e", b"#\x1e\n" + told("f", 2).encode()])
    assert [start for start, *_ in found] == [1, 2]
    assert letters[0] == DeadLetter("kafka://localhost:9092/readings partition 3 offset 100", None, "a message without a value")
    assert sorted(letter.source[-3:] for letter in letters) == ["100", "102", "104"]


def test_trig_and_json_ld_give_what_n_quads_gives() -> None:
    trig = "PREFIX : <http://e/> :e { :s :p :o , 7 } :e <http://www.w3.org/ns/prov#generatedAtTime> 5 ."
    json = """{"@id": "http://e/e", "http://www.w3.org/ns/prov#generatedAtTime": 5,
        "@graph": [{"@id": "http://e/s", "http://e/p": [{"@id": "http://e/o"}, 7]}]}"""
    lines = told("e", 5) + quad("e", object=integer(7))
    expected, _ = read([lines, lines])
    for text, format in ((trig, ".trig"), (json, ".jsonld")):
        found, letters = read([text, text], format)
        assert [(*event[:3], sorted(event[3])) for event in found] == [(*event[:3], sorted(event[3])) for event in expected]
        assert not letters


def test_a_document_for_a_mapping_that_is_cut_in_half_is_shown() -> None:
    letters: list[DeadLetter] = []
    mapping = "time: $(t)\nmappings: {r: {s: 'http://e/$(s)', po: [[http://e/v, $(v)]]}}\n"
    lift = MappedReaders(read_mapping(mapping, "m.yml"))
    reading = Reading(KEY, 0, ADDRESS.name, letters.append, None, ReadState(), 1 << 20, {}, lift)
    sent = [Sent(b'{"t": 1, "s": "a", "v": 1}', 100), Sent(b'{"t": 2, "s": "a', 101), Sent(b'{"t": 3, "s": "a", "v": 2}', 102)]
    assert [start for start, *_ in events_of(Payloads(ADDRESS, ".json", reading).batches([sent]))] == [1, 3]
    assert [(letter.source.rpartition(" ")[2], letter.text) for letter in letters] == [("101", '{"t": 2, "s": "a')]


def test_a_json_document_cut_in_half_is_a_dead_letter_and_the_rest_goes_on() -> None:
    graph = '"@graph": [{"@id": "http://e/s", "http://e/p": 1}]'
    json = f'{{"@id": "http://e/e", "http://www.w3.org/ns/prov#generatedAtTime": 5, {graph}}}'
    found, letters = read([json, json[:60], json], ".jsonld")
    assert len(found) == 2
    assert letters[0].source == "kafka://localhost:9092/readings partition 3 offset 101"
    assert "JSON" in letters[0].reason


def test_formats_that_are_read_as_a_whole() -> None:
    found, letters = read(["10 { <http://e/s> <http://e/p> 1 }", "what", "12 { <http://e/s> <http://e/p> 2 }"], ".timeline")
    assert [start for start, *_ in found] == [10, 12]
    assert letters[0].source == "kafka://localhost:9092/readings partition 3 offset 101"


@pytest.mark.parametrize("batch_bytes", [1, 100, 1 << 20])
@pytest.mark.parametrize("hand", [1, 3, 1000])
def test_however_messages_are_taken_together_the_events_are_the_same(batch_bytes: int, hand: int) -> None:
    draw = random.Random(5)
    texts = [draw.choice(["broken\n", "", told("e", i), told("e", i) + told("f", i), at_time("e", i)]) for i in range(200)]
    one_by_one = [read([text]) for text in texts]
    found, letters = read(texts, batch_bytes=batch_bytes, hand=hand)
    assert found == [event for events, _ in one_by_one for event in events]
    assert [(x.reason, x.line) for x in letters] == [(x.reason, x.line) for _, each in one_by_one for x in each]


def test_the_format_is_that_of_the_address_or_what_a_message_looks_like() -> None:
    assert looks_like(ADDRESS, Sent(told("e", 1).encode())) == ".nq"
    assert looks_like(ADDRESS, Sent(b'{"@id": "x"}')) == ".jsonld"
    assert looks_like(ADDRESS, Sent(b"time;value")) is None
    assert looks_like(ADDRESS, Sent(b'{"time": 1, "value": 2}')) is None, "plain JSON makes no event by itself"
    assert looks_like(ADDRESS, Sent(None)) is None
    assert looks_like(Address("a:1", "t", ".trig"), Sent(b"time;value")) == ".trig"
    with pytest.raises(OptionError, match=r"partition 3 offset 7: its content does not tell its format: time;value"):
        raise unknown_format(ADDRESS, Sent(b"time;value", 7))
    with pytest.raises(OptionError, match=r"partition 3 offset 7 is plain JSON, and nothing says how") as found:
        raise unknown_format(ADDRESS, Sent(b'{"time": 1, "value": 2}', 7))
    assert found.value.code == "needs-map"


def test_json_ld_without_a_context_is_told_of() -> None:
    assert read(['{"time": 1, "value": 2}', '{"@id": "http://e/a"}'], ".jsonld") == (
        [],
        [DeadLetter(f"{ADDRESS.name} partition 3 offset 100", None, UNNAMED, '{"time": 1, "value": 2}')],
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100, 10_000])
def test_a_limit_is_shared_and_no_partition_is_forgotten(limit: int) -> None:
    draw = random.Random(limit)
    for _ in range(50):
        waiting = {number: draw.choice([0, 1, 5, 1000]) for number in range(draw.randrange(1, 6))}
        found = shared(limit, waiting)
        assert all(0 <= found[number] <= count for number, count in waiting.items())
        assert all(found[number] for number, count in waiting.items() if count)
        busy = sum(1 for count in waiting.values() if count)
        assert sum(found.values()) <= max(limit, busy)
        assert sum(found.values()) >= min(sum(waiting.values()), limit - busy)


def test_pieces_of_a_span_are_the_span() -> None:
    for length in range(1, 30):
        for share in range(1, 12):
            pieces = cut(Span(2, 5, 5 + length), share)
            assert pieces[0].start == 5 and pieces[-1].stop == 5 + length
            assert all(a.stop == b.start for a, b in pairwise(pieces))
            assert all(0 < piece.stop - piece.start <= share for piece in pieces)


@pytest.mark.parametrize("format", [".nt", ".trig"])
def test_messages_without_a_time_have_the_brokers(format: str) -> None:
    assign = AssignTime("arrival", clock=lambda: 9_000_000)
    line = "<http://e/a> <http://e/p> <http://e/{}> ."
    graph = "<http://e/g> {{ <http://e/a> <http://e/p> <http://e/{}> }}"
    texts = [(line if format == ".nt" else graph).format(at) for at in range(3)]
    sent = [
        Sent(f"{texts[0]}\n".encode(), 5),
        Sent(texts[1].encode(), 7),
        Sent(texts[2].encode(), 6),
        Unstamped(texts[0].encode(), 8),
    ]
    letters: list[DeadLetter] = []
    reading = Reading(KEY, 0, ADDRESS.name, letters.append, None, ReadState(assign=assign), 1 << 20, {})
    found = events_of(Payloads(ADDRESS, format, reading).batches([sent[:3], sent[3:]]))
    assert [(start, end) for start, end, *_ in found] == [(at, at) for at in (5_000, 7_000, 7_001, 9_000_000)]
    assert not letters
    assert assign.now() == 9_000_000  # the clock again, as of the last message
