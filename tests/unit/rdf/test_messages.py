"""RDF Messages as the draft has them: logs of N-Triples, N-Quads, Turtle, TriG and newline-delimited JSON-LD."""

from __future__ import annotations

import io
import json
import random

import pytest

from batches import KEY, Event, events_of
from scepter.rdf.batch import DeadLetter
from scepter.rdf.extensions import is_log, sniff
from scepter.rdf.limits import DEFAULT
from scepter.rdf.messages import TO_FETCH, UNNAMED, JsonMessages
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import READERS, Reading
from scepter.rdf.times import TimeProperties

TIME = "http://example.org/time"
V = 'VERSION "1.2-messages"\n'
Found = tuple[list[Event], list[tuple[int | None, str]]]


def read(text: str, extension: str, *, batch_bytes: int = 1 << 20, times: str | None = TIME) -> Found:
    letters: list[DeadLetter] = []
    run = ReadState(times=TimeProperties.of([times] if times else None))
    reading = Reading(KEY, 0, "log", letters.append, None, run, batch_bytes, {})
    return events_of(READERS[extension](io.BytesIO(text.encode()), reading)), [(each.line, each.reason) for each in letters]


def line(subject: str, value: int, *, graph: str = "") -> str:
    return (
        f'<http://example.org/{subject}> <http://example.org/value> "{value}" {graph and f"<http://example.org/{graph}> "}.\n'
    )


def at(subject: str, time: int, *, graph: str = "") -> str:
    named = graph and f"<http://example.org/{graph}> "
    return f'<http://example.org/{subject}> <{TIME}> "{time}" {named}.\n'


def message(subject: str, time: int) -> str:
    return at(subject, time) + line(subject, time)


LINES = (".nt", ".nq")
ALL = (*LINES, ".ttl", ".trig")


@pytest.mark.parametrize("extension", ALL)
@pytest.mark.parametrize(
    ("text", "times"),
    [
        (V + message("a", 1), [1]),
        (V + message("a", 1) + "MESSAGE\n" + message("b", 2), [1, 2]),
        (V + "MESSAGE\n" + message("a", 1), [1]),
        (V + message("a", 1) + "MESSAGE\nMESSAGE\n" + message("b", 2), [1, 2]),
        (V + message("a", 1) + "MESSAGE\n", [1]),
        (V + message("a", 1) + "MESSAGE # the last one\n", [1]),
        ("# a log\n" + V.replace('"', "'") + message("a", 1) + " MESSAGE\r\n" + message("a", 2), [1, 2]),
        (V.replace("1.2-", "1.2-basic-") + message("a", 1) + "MESSAGE\n" + message("b", 2), [1, 2]),
        (V.replace("1.2-", "1.1-") + message("a", 1) + "MESSAGE\n" + message("b", 2), [1, 2]),
    ],
)  # fmt: skip
def test_delimiters_and_empty_messages(text: str, times: list[int], extension: str) -> None:
    events, letters = read(text, extension)
    assert [start for start, *_ in events] == times
    assert [len(triples) for *_, triples in events] == [2] * len(times)
    assert not letters


@pytest.mark.parametrize("extension", [".ttl", ".trig"])
def test_the_older_spelling_and_prefixes_that_change(extension: str) -> None:
    text = """@version "1.2-messages" .
@prefix ex: <http://example.org/one/> . @base <http://example.org/> .
ex:s <time> 1 ; ex:says "MESSAGE } @message . # not \\" one" .
@message .
ex:s <time> 2 ; ex:says '''a long
MESSAGE
''' .
@message .
PREFIX ex: <two/>
ex:s <time> 3 .
"""
    events, letters = read(text, extension)
    assert not letters
    assert [(start, name) for start, _, name, _ in events] == [
        (1, "<http://example.org/one/s>"), (2, "<http://example.org/one/s>"), (3, "<http://example.org/two/s>"),
    ]  # fmt: skip


@pytest.mark.parametrize("extension", ALL)
def test_blank_nodes_belong_to_their_message(extension: str) -> None:
    one = f'_:b <{TIME}> "%d" .\n_:b <http://example.org/p> _:c .\n'
    events, letters = read(V + one % 1 + "MESSAGE\n" + one % 2, extension)
    assert not letters and [start for start, *_ in events] == [1, 2]
    first, second = ({term for triple in triples for term in triple if term.startswith("_:")} for *_, triples in events)
    assert len(first) == len(second) == 2 and not first & second


def test_several_subjects_are_one_event_and_the_first_iri_names_it() -> None:
    inner = '_:r <http://example.org/value> "1" .\n'
    [(start, _, name, triples)], letters = read(V + inner + line("x", 5) + at("obs", 7), ".nq")
    assert (start, name, len(triples)) == (7, "<http://example.org/x>", 3) and not letters


@pytest.mark.parametrize("extension", [".nq", ".trig"])
def test_named_graphs_are_events_of_their_message(extension: str) -> None:
    if extension == ".nq":
        text = V + at("g", 1) + line("a", 1, graph="g") + "MESSAGE\n" + message("b", 2) + "MESSAGE\n"
        text += line("a", 3, graph="g") + at("g", 3) + line("a", 4, graph="h") + at("h", 4)
    else:
        text = (
            V
            + f"""PREFIX ex: <http://example.org/>
ex:g ex:time 1 . ex:g {{ ex:a ex:value "1" }}
MESSAGE
ex:b ex:time 2 ; ex:value "2" .
MESSAGE
ex:g {{ ex:a ex:value "3" }} ex:g ex:time 3 . ex:h ex:time 4 . ex:h {{ ex:a ex:value "4" }}
{"MESSAGE"}"""
        )
    events, letters = read(text, extension)
    assert not letters
    names = ["<http://example.org/g>", "<http://example.org/b>", "<http://example.org/g>", "<http://example.org/h>"]
    assert [(start, name) for start, _, name, _ in events] == list(zip([1, 2, 3, 4], names, strict=True))


def test_the_times_of_prov_stand_in_the_message_without_being_asked_for() -> None:
    text = V + '<http://e/a> <http://www.w3.org/ns/prov#generatedAtTime> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    [(start, _, name, triples)], letters = read(text, ".nt", times=None)
    assert (start, name, len(triples)) == (5, "<http://e/a>", 1) and not letters


def test_what_is_wrong() -> None:
    plain = message("a", 1)
    assert read(plain + "MESSAGE\n", ".nq")[1] == [(3, "a subject that is neither an IRI nor a blank node")]
    events, letters = read(V + plain + "MESSAGE\n" + line("b", 1) + "MESSAGE\nMESSAGES\n" + message("c", 3), ".nq")
    assert [start for start, *_ in events] == [1, 3]
    assert letters == [(5, "an event without a time"), (7, "a subject that is neither an IRI nor a blank node")]
    events, letters = read(V + plain + "@message <http://example.org/x>\n" + "MESSAGE\n" + message("b", 2), ".ttl")
    assert [start for start, *_ in events] == [2] and [number for number, _ in letters] == [4]
    graph = V + "<http://e/g> {\n <http://e/a> <http://e/b> 1 .\nMESSAGE\n<http://e/a> <http://e/b> 2 .\n}\n"
    events, letters = read(graph + "MESSAGE\n" + message("b", 2), ".trig")
    assert [start for start, *_ in events] == [2] and letters[0][0] == 4
    events, letters = read(V + line("b", 1) + "MESSAGE\n" + plain, ".ttl")
    assert [start for start, *_ in events] == [1] and letters == [(1, "an event without a time")]


@pytest.mark.parametrize("seed", range(20))
def test_any_cut_gives_the_same_events(seed: int) -> None:
    draw = random.Random(seed)
    parts, expected = [V], []
    for time in range(1, 40):
        kind = draw.randrange(4)
        if kind == 0:
            lines = [at("s", time), *(line(draw.choice("sxy"), i) for i in range(draw.randrange(4)))]
            expected += [(time, len(set(lines)))]
        elif kind == 1:
            lines = [at("g", time), *(line("x", i, graph="g") for i in range(1, 1 + draw.randrange(1, 4)))]
            expected += [(time, len(lines))]
        elif kind == 2:
            lines = []
        else:
            lines = ["_:b <http://example.org/p> _:c .\n", at("s", time)]
            expected += [(time, 2)]
        parts += [*lines, "MESSAGE\n"]
    whole, letters = read("".join(parts), ".nq")
    assert not letters
    assert [(start, len(triples)) for start, _, _, triples in whole] == expected
    for size in (1, 50, 300):
        assert read("".join(parts), ".nq", batch_bytes=size) == (whole, [])


def test_newline_delimited_json_ld_has_contexts_and_empty_messages() -> None:
    context = {"t": TIME, "v": {"@id": "http://example.org/value"}}
    lines = [
        {"@context": context}, {"@id": "http://e/a", "t": 1, "v": 1}, {}, {"@id": "http://e/b", "t": 2},
        {"@context": {"v": "http://example.org/other"}, "@id": "http://e/c", "t": 3, "v": 1},
        {"@id": "http://e/d", "t": 4, "v": 1}, {"@context": {"t": "http://example.org/no"}}, {"@id": "http://e/e", "t": 5},
    ]  # fmt: skip
    events, letters = read("\n".join(map(json.dumps, lines)), ".ndjsonld")
    assert [(start, name) for start, _, name, _ in events] == [(i, f"<http://e/{n}>") for i, n in enumerate("abcd", 1)]
    assert [triples[-1][1] for *_, triples in events][2:] == ["<http://example.org/other>", "<http://example.org/value>"]
    assert letters == [(8, "an event without a time")]


def test_lines_of_json_ld_that_cannot_be_read_are_shown_as_they_stand() -> None:
    context = json.dumps({"@context": {"t": TIME}})
    lines = [
        context,
        '{"@id": "http://e/a", "t":',
        '{"@context": "http://e/c", "t": 1}',
        '{"value": 1}',
        '{"@id": "http://e/a"}',
    ]
    letters: list[DeadLetter] = []
    messages = JsonMessages("s", letters.append, DEFAULT)
    for number, text in enumerate(lines, 1):
        messages.read(text.encode(), number)
    assert [(letter.line, letter.text) for letter in letters] == [(n + 1, lines[n]) for n in (1, 2, 3)]
    assert [letter.reason for letter in letters] == [
        "not JSON: Expecting value",
        TO_FETCH,
        UNNAMED,
    ]


def test_a_document_of_json_ld_without_a_context_is_told_of() -> None:
    assert read('{"value": 1}', ".jsonld") == ([], [(None, UNNAMED)])
    assert read('{"@context": {}, "@graph": []}', ".jsonld") == ([], [])
    assert read('{"@context": "http://e/c", "t": 1}', ".jsonld")[1][0][1] == TO_FETCH


def test_a_log_is_known_by_its_first_bytes() -> None:
    assert is_log(V.encode()) and is_log(b'@version "1.2-messages" .') and not is_log(b'VERSION "1.2"\n')
    assert sniff((V + "MESSAGE\n" + message("a", 1)).encode()) == ".nq"
    assert sniff((V + "PREFIX ex: <http://e/>\n").encode()) == ".trig"
    assert read('VERSION "1.2"\n' + message("a", 1), ".nq")[1] == []
