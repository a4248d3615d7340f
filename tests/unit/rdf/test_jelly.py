"""Jelly, written by its reference implementation, or byte by byte where that writes nothing wrong."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable
from typing import Any

import pytest

from batches import KEY, Event, events_of
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import READERS, Reading
from scepter.rdf.times import TimeProperties

pyjelly = pytest.importorskip("pyjelly", reason="the reference of Jelly is not installed")

from pyjelly import jelly  # noqa: E402
from pyjelly.integrations.generic.generic_sink import (  # noqa: E402
    IRI,
    BlankNode,
    DefaultGraph,
    GenericStatementSink,
    Literal,
    Quad,
    Triple,
)
from pyjelly.integrations.generic.serialize import flat_stream_to_file, grouped_stream_to_file  # noqa: E402
from pyjelly.options import StreamParameters  # noqa: E402
from pyjelly.serialize.streams import SerializerOptions  # noqa: E402

E = "http://example.org/"
TIME = E + "time"
PROV = "http://www.w3.org/ns/prov#generatedAtTime"
XSD = "http://www.w3.org/2001/XMLSchema#"
Found = tuple[list[Event], list[tuple[int | None, str]]]


def read(data: bytes, *, times: str | None = TIME, predicates: Iterable[str] | None = None, **given: Any) -> Found:
    letters: list[DeadLetter] = []
    run = ReadState(times=TimeProperties.of([times] if times else None))
    wanted = None if predicates is None else frozenset(term_id(KEY, f"<{each}>") for each in predicates)
    reading = Reading(KEY, 0, "f", letters.append, wanted, run, given.get("batch_bytes", 1 << 20), {})
    return events_of(READERS[".jelly"](io.BytesIO(data), reading)), [(each.line, each.reason) for each in letters]


def grouped(messages: Iterable[list[Any]], logical: int = 3) -> bytes:
    def sinks() -> Any:
        for statements in messages:
            sink = GenericStatementSink()
            for statement in statements:
                sink.add(statement)
            yield sink

    out = io.BytesIO()
    params = StreamParameters(generalized_statements=True, rdf_star=True)
    grouped_stream_to_file(sinks(), out, options=SerializerOptions(logical_type=logical, params=params))
    return out.getvalue()


def number(value: object) -> Literal:
    return Literal(str(value), datatype=XSD + "integer")


def observation(time: int, sensor: str = "s", *more: Triple) -> list[Triple]:
    subject = IRI(f"{E}obs/{time}")
    return [
        Triple(subject, IRI(TIME), number(time)), Triple(subject, IRI(E + "by"), IRI(E + sensor)),
        Triple(subject, IRI(E + "value"), number(7)), *more,
    ]  # fmt: skip


def test_each_frame_is_an_event() -> None:
    events, letters = read(grouped(observation(time) for time in range(1, 300)))
    assert not letters
    assert [(start, name) for start, _, name, _ in events] == [(t, f"<{E}obs/{t}>") for t in range(1, 300)]
    assert events[4][3] == [
        (f"<{E}obs/5>", f"<{TIME}>", f'"5"^^<{XSD}integer>'), (f"<{E}obs/5>", f"<{E}by>", f"<{E}s>"),
        (f"<{E}obs/5>", f"<{E}value>", f'"7"^^<{XSD}integer>'),
    ]  # fmt: skip


def test_strange_texts_come_through_as_they_are() -> None:
    texts = ['a "b" \\ c\n\r\t\x00\x7f', "ü€😀", "", "x" * 70_000]
    statements = [Triple(IRI(E + "a"), IRI(f"{E}p{i}"), Literal(text)) for i, text in enumerate(texts)]
    statements += [
        Triple(IRI(E + "a"), IRI(E + "l"), Literal("hi", langtag="en-GB")),
        Triple(BlankNode("x y"), IRI(E + "b"), BlankNode("z")),
    ]
    [(_, _, _, triples)], letters = read(grouped([[*observation(1)[:1], *statements]]))
    assert not letters
    from scepter.rdf.terms import parse_term

    found = {p: parse_term(o) for _, p, o in triples}
    assert [found[f"<{E}p{i}>"].lexical for i in range(len(texts))] == texts  # type: ignore[union-attr]
    assert found[f"<{E}l>"] == parse_term('"hi"@en-gb')


def test_blank_nodes_belong_to_their_frame() -> None:
    one = Triple(BlankNode("b"), IRI(E + "p"), BlankNode("c"))
    events, _ = read(grouped([[one, Triple(BlankNode("b"), IRI(TIME), number(t))] for t in (1, 2)]))
    first, second = ({term for triple in triples for term in triple if term.startswith("_:")} for *_, triples in events)
    assert len(first) == len(second) == 2 and not first & second


def test_named_graphs_are_events() -> None:
    def named(graph: str, time: int) -> list[Quad]:
        name = IRI(E + graph)
        return [Quad(name, IRI(TIME), number(time), DefaultGraph), Quad(IRI(E + "a"), IRI(E + "value"), number(time), name)]

    events, letters = read(grouped([named("g", 1), [*named("g", 2), *named("h", 3)]], 4))
    assert not letters
    assert [(start, name) for start, _, name, _ in events] == [(1, f"<{E}g>"), (2, f"<{E}g>"), (3, f"<{E}h>")]


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_flat_streams_are_documents(batch_bytes: int) -> None:
    out = io.BytesIO()
    # frames of two statements: events lie across them
    options = SerializerOptions(logical_type=1, params=StreamParameters(), frame_size=2)
    flat_stream_to_file((each for time in (1, 2, 3) for each in observation(time)), out, options=options)
    events, letters = read(out.getvalue(), batch_bytes=batch_bytes)
    assert [(start, name, triples) for start, _, name, triples in events] == [
        (t, f"<{E}obs/{t}>", [
            (f"<{E}obs/{t}>", f"<{TIME}>", f'"{t}"^^<{XSD}integer>'), (f"<{E}obs/{t}>", f"<{E}by>", f"<{E}s>"),
            (f"<{E}obs/{t}>", f"<{E}value>", f'"7"^^<{XSD}integer>'),
        ]) for t in (1, 2, 3)
    ]  # fmt: skip
    assert not letters


@pytest.mark.parametrize("batch_bytes", [1, 200, 1 << 20])
def test_what_nobody_asks_for_is_left_out_and_its_events_stay(batch_bytes: int) -> None:
    data = grouped([*(observation(t) for t in range(1, 50)), [Triple(IRI(E + "x"), IRI(TIME), number(50))]])
    events, letters = read(data, predicates=[E + "value"], batch_bytes=batch_bytes)
    assert not letters and [start for start, *_ in events] == list(range(1, 51))
    assert {tuple(p for _, p, _ in triples) for *_, triples in events} == {(f"<{E}value>",), ()}


@pytest.mark.parametrize("seed", range(15))
def test_it_says_what_the_same_as_n_quads_says(seed: int) -> None:
    draw = random.Random(seed)
    messages, text = [], ['VERSION "1.2-messages"\n']
    for time in range(1, 120):
        statements = observation(time)[:1]
        for _ in range(draw.randrange(5)):
            subject = draw.choice(
                [IRI(f"{E}{draw.randrange(200)}"), IRI(f"http://other/{draw.randrange(9)}#x"), BlankNode("b")]
            )
            object = draw.choice(
                [
                    number(draw.randrange(9)),
                    Literal("t\n"),
                    Literal("t", langtag="en"),
                    BlankNode("c"),
                    IRI(f"{E}o{draw.randrange(300)}"),
                ]
            )
            statements.append(Triple(subject, IRI(f"{E}p{draw.randrange(4)}"), object))
        messages.append(statements)
        text += [f"{' '.join(map(_spelt, each))} .\n" for each in statements] + ["MESSAGE\n"]
    letters: list[DeadLetter] = []
    reading = Reading(KEY, 0, "f", letters.append, None, ReadState(times=TimeProperties.of([TIME])), 1 << 20, {})
    expected = events_of(READERS[".nq"](io.BytesIO("".join(text).encode()), reading))
    found, wrong = read(grouped(messages), batch_bytes=[1, 700, 1 << 20][seed % 3])
    assert not letters and not wrong
    plain = [[(start, name, [tuple(map(_unsalted, triple)) for triple in triples]) for start, _, name, triples in events]
             for events in (found, expected)]  # fmt: skip
    assert plain[0] == plain[1]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("wanted", [None, [E + "p0", "http://other/p1"]])
def test_datasets_say_what_the_same_as_n_quads_say(seed: int, wanted: list[str] | None) -> None:
    """Names under several prefixes, graphs that take turns in a frame, repeated triples, entries that are set anew."""
    draw, places = random.Random(seed), [E, "http://other/", E + "deep/"]
    frames, text = [], []
    for time in range(1, 90):
        graphs = [f"http://g/{draw.choice('ab')}{time}" for _ in range(draw.randrange(1, 4))]
        quads = [Quad(IRI(each), IRI(PROV), number(time), DefaultGraph) for each in dict.fromkeys(graphs)]
        for graph in graphs:
            for _ in range(draw.randrange(1, 5)):
                name = draw.choice([str(time), f"n{draw.randrange(40)}"])
                subject = draw.choice([IRI(f"{draw.choice(places)}{name}"), BlankNode("b")])
                object = draw.choice([number(draw.randrange(3)), Literal("t" * draw.randrange(40)), IRI(graph), BlankNode("c")])
                predicate = IRI(f"{draw.choice(places[:2])}p{draw.randrange(3)}")
                quads.append(Quad(subject, predicate, object, IRI(graph)))
        order = sorted(quads, key=lambda quad: (quad[0] if quad[3] is DefaultGraph else quad[3])._iri)
        frames.append(order)
        text += [f"{' '.join(_spelt(each) for each in quad if each is not DefaultGraph)} .\n" for quad in order]
    ids = None if wanted is None else frozenset(term_id(KEY, f"<{each}>") for each in wanted)
    reading = Reading(KEY, 0, "f", lambda letter: pytest.fail(letter.reason), ids, ReadState(), 1 << 20, {})
    expected = events_of(READERS[".nq"](io.BytesIO("".join(text).encode()), reading))
    found, wrong = read(grouped(frames, 4), times=None, predicates=wanted, batch_bytes=[1, 900, 1 << 20][seed % 3])
    assert not wrong
    plain = [[(start, name, [tuple(map(_unsalted, triple)) for triple in triples]) for start, _, name, triples in events]
             for events in (found, expected)]  # fmt: skip
    assert plain[0] == plain[1]


def _spelt(term: Any) -> str:
    match term:
        case IRI():
            return str(term)
        case BlankNode():
            return f"_:{term._identifier}"
    text = str(term._lex).replace("\n", "\\n")
    return f'"{text}"' + (f"@{term._langtag}" if term._langtag else f"^^<{term._datatype}>" if term._datatype else "")


def _unsalted(term: str) -> str:
    return f"_:{term[-1]}" if term.startswith("_:") else term


# ------------------------------------------------------------------ what is wrong


def framed(*frames: Any) -> bytes:
    out = b""
    for frame in frames:
        body = frame if isinstance(frame, bytes) else frame.SerializeToString()
        size, head = len(body), b""
        while size >= 0x80:
            head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
        out += head + bytes([size]) + body
    return out


def rows(*given: dict[str, Any]) -> Any:
    return jelly.RdfStreamFrame(rows=[jelly.RdfStreamRow(**each) for each in given])


OPTIONS = {"options": jelly.RdfStreamOptions(physical_type=1, logical_type=3, version=1, max_name_table_size=128)}
TABLES = [
    {"prefix": jelly.RdfPrefixEntry(value=E)},
    {"name": jelly.RdfNameEntry(value="time")}, {"name": jelly.RdfNameEntry(value="a")},
    {"datatype": jelly.RdfDatatypeEntry(value=XSD + "integer")},
]  # fmt: skip


def timed(time: int, **given: Any) -> dict[str, Any]:
    literal = jelly.RdfLiteral(lex=str(time), datatype=1)
    whole = {"s_iri": jelly.RdfIri(prefix_id=1, name_id=2), "p_iri": jelly.RdfIri(name_id=1), "o_literal": literal}
    return {"triple": jelly.RdfTriple(**{**whole, **given})}


def test_a_bad_frame_is_a_dead_letter_and_the_next_is_read() -> None:
    bad: list[dict[str, Any]] = [
        {"s_iri": jelly.RdfIri(name_id=77)}, {"o_literal": jelly.RdfLiteral(lex="x", datatype=9)},
        {"o_literal": jelly.RdfLiteral(lex="x", langtag="e n\n")},
        {"s_literal": jelly.RdfLiteral(lex="x"), "s_iri": None}, {"o_triple_term": jelly.RdfTriple(), "o_literal": None},
        {"o_literal": jelly.RdfLiteral(lex="soon", datatype=1)},
    ]  # fmt: skip
    frames = [rows(OPTIONS, *TABLES, timed(1))]
    for number, each in enumerate(bad, 2):
        frames += [rows(timed(5, **{name: value for name, value in each.items() if value is not None})), rows(timed(number))]
    events, letters = read(framed(*frames))
    assert [start for start, *_ in events] == [1, 2, 3, 4, 5, 6, 7]
    assert letters == [
        (2, "a frame that uses an entry of a lookup table that is not there"),
        (4, "a frame that uses an entry of a lookup table that is not there"),
        (6, "a frame with a malformed language tag (one with a base direction is RDF 1.2)"),
        (8, "a frame with a generalized statement"),
        (10, "a frame with a triple term, which is RDF 1.2: terms are those of RDF 1.1"),
        (12, "a time that is neither an xsd:dateTime nor an integer"),
    ]  # fmt: skip


def test_data_that_end_early_or_are_none() -> None:
    data = framed(rows(OPTIONS, *TABLES, timed(1)), rows(timed(2)))
    for cut in range(1, len(data)):
        events, letters = read(data[:cut])
        assert [start for start, *_ in events] in ([], [1]) and len(letters) <= 1
    assert read(b"") == ([], [])
    draw = random.Random(1)
    for _ in range(300):
        broken = bytearray(data)
        broken[draw.randrange(len(broken))] = draw.randrange(256)
        read(bytes(broken))
        read(draw.randbytes(draw.randrange(200)))


def field(number: int, body: bytes) -> bytes:
    """A part of a message as protobuf writes bytes."""
    return bytes([number << 3 | 2]) + framed(body)


def test_a_number_in_the_place_of_a_text_is_none() -> None:
    """Its value would be taken for a place in the data: beyond its end, or before it, for texts longer than there is room."""
    first = rows(OPTIONS, *TABLES, timed(1))
    farthest = b"\xff" * 8 + b"\x7f"
    names = b"".join(field(1, field(9, b"\x10\x00")) for _ in range(4000))
    literal = field(1, field(2, field(11, b"\x08" + farthest)))
    for frame in (names, literal, b"\x08\x00" * 100):
        events, _ = read(framed(first, frame, rows(*TABLES, timed(2))))
        assert next(start for start, *_ in events) == 1


def test_a_row_may_hold_more_than_one_statement() -> None:
    whole = rows(OPTIONS, *TABLES, timed(1)).SerializeToString()
    events, _ = read(framed(whole + field(1, field(2, b"") * 1000)))
    assert [(start, len(triples)) for start, _, _, triples in events] == [(1, 1)]  # equal ones are one


def test_one_frame_without_its_size() -> None:
    events, letters = read(rows(OPTIONS, *TABLES, timed(1)).SerializeToString())
    assert [start for start, *_ in events] == [1] and not letters


def test_texts_that_look_like_lines_stay_in_their_terms() -> None:
    evil = "x> <http://e/p> <http://e/o> .\nMESSAGE\n"
    frame = rows(OPTIONS, *TABLES, {"name": jelly.RdfNameEntry(value=evil)}, timed(1), timed(1, s_iri=jelly.RdfIri(name_id=3)))
    events, letters = read(framed(frame, rows(timed(2))))
    assert [start for start, *_ in events][-1] == 2 and len(events) + len(letters) <= 3


def test_a_flat_event_without_end_is_let_go() -> None:
    from scepter.rdf.limits import ReadLimits

    subject, out = IRI(E + "a"), io.BytesIO()
    endless = [Triple(subject, IRI(TIME), number(1)), *(Triple(subject, IRI(E + "p"), number(i)) for i in range(20_000))]
    flat_stream_to_file(iter([*endless, *observation(2)]), out)
    letters: list[DeadLetter] = []
    run = ReadState(times=TimeProperties.of([TIME]), limits=ReadLimits.of({"event": "100 kB"}))
    reading = Reading(KEY, 0, "f", letters.append, None, run, 1 << 14, {})
    assert [start for start, *_ in events_of(READERS[".jelly"](io.BytesIO(out.getvalue()), reading))] == [2]
    assert ["limit event" in letter.reason for letter in letters] == [True]


def test_an_object_that_nobody_asked_for_is_there_when_it_is_repeated() -> None:
    other = jelly.RdfIri(prefix_id=1, name_id=4)
    names = [*TABLES, {"name": jelly.RdfNameEntry(value="value")}, {"name": jelly.RdfNameEntry(value="other")}]
    first = rows(
        OPTIONS, *names, timed(1), timed(1, p_iri=other, o_iri=jelly.RdfIri(name_id=2), o_literal=None),
        {"name": jelly.RdfNameEntry(id=2, value="changed")},
        {"triple": jelly.RdfTriple(p_iri=jelly.RdfIri(name_id=3))},
    )  # fmt: skip
    events, letters = read(framed(first), predicates=[E + "value"])
    assert [triples for *_, triples in events] == [[(f"<{E}a>", f"<{E}value>", f"<{E}a>")]] and not letters


def test_a_malformed_term_is_repeated_by_no_statement() -> None:
    bad = rows(timed(2, s_iri=jelly.RdfIri(name_id=99)))
    repeats = rows({"triple": jelly.RdfTriple(o_literal=jelly.RdfLiteral(lex="3", datatype=1))})
    events, letters = read(framed(rows(OPTIONS, *TABLES, timed(1)), bad, repeats, rows(timed(4))))
    assert [start for start, *_ in events] == [1, 4] and [line for line, _ in letters] == [2, 3]


def test_times_are_assigned_to_frames_without_any() -> None:
    from scepter.rdf.assigning import AssignTime

    run = ReadState(assign=AssignTime("sequence"))
    reading = Reading(KEY, 0, "f", lambda letter: None, None, run, 1 << 20, {})
    data = grouped([[Triple(IRI(E + "a"), IRI(E + "value"), number(i))] for i in range(3)])
    events = events_of(READERS[".jelly"](io.BytesIO(data), reading))
    assert [(start, triples) for start, _, _, triples in events] == [
        (i + 1, [(f"<{E}a>", f"<{E}value>", f'"{i}"^^<{XSD}integer>')]) for i in range(3)
    ]


def test_terms_that_repeat_do_not_fill_the_memory() -> None:
    from scepter.rdf.limits import ReadLimits

    run = ReadState(times=TimeProperties.of([TIME]), limits=ReadLimits.of({"event": "1 MB"}))
    letters: list[DeadLetter] = []
    reading = Reading(KEY, 0, "f", letters.append, None, run, 1 << 16, {})
    bomb = rows(
        OPTIONS, *TABLES, timed(1, o_literal=jelly.RdfLiteral(lex="x" * 10_000)), *[{"triple": jelly.RdfTriple()}] * 5000
    )
    events = events_of(READERS[".jelly"](io.BytesIO(framed(bomb, rows(timed(2)))), reading))
    assert [start for start, *_ in events] == [2] and [letter.line for letter in letters] == [1]


def _number(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def _long(value: int) -> bytes:
    """A varint with one more byte than it needs."""
    out = bytearray([value & 0x7F | 0x80])
    while value := value >> 7:
        out.append(value & 0x7F | 0x80)
    return bytes(out) + b"\0"


def _at_length(message: bytes, depth: int) -> bytes:
    """A message with every length and number of its statements written in more bytes than they need."""
    at, out = 0, b""
    while at < len(message):
        key, at = _number(message, at)
        value, at = _number(message, at)
        out += _long(key)
        if key & 7 == 2:
            inner, at = message[at : at + value], at + value
            # a row, then a triple or a quad, then an IRI or a literal of it; what is below is text
            opened = depth == 0 or (depth == 1 and key >> 3 in (2, 3)) or (depth == 2 and key >> 3 != 2)
            inner = _at_length(inner, depth + 1) if opened else inner
            out += _long(len(inner)) + inner
        else:
            out += _long(value)
    return out


@pytest.mark.parametrize("predicates", [None, [E + "value"]])
def test_however_many_bytes_a_number_takes_it_says_the_same(predicates: list[str] | None) -> None:
    # nearly all statements are read by their tokens; those of a writer that pads its numbers go the general way
    names = (f"{name}{i}" for i in range(9) for name in ("a", "b", "a"))
    statements = [
        Triple(IRI(E + "x"), IRI(E + "at"), Literal("k", langtag="en")), Triple(IRI(E + "x"), IRI(E + "is"), Literal("")),
    ]  # fmt: skip
    data = grouped(observation(time, name, *statements) for time, name in enumerate(names))
    at, padded = 0, b""
    while at < len(data):
        size, at = _number(data, at)
        frame, at = _at_length(data[at : at + size], 0), at + size
        padded += _long(len(frame)) + frame
    found = read(data, predicates=predicates)
    assert len(found[0]) == 27 and not found[1]
    assert read(padded, predicates=predicates) == found
