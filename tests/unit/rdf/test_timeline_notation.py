from __future__ import annotations

import pytest

from scepter.rdf.formats import GraphError
from scepter.rdf.terms import IRI, Literal
from scepter.rdf.timeline_notation import parse_timeline
from scepter.timeline import TimeKind, parse_datetime

PREFIXES = {"": "http://e/"}


def test_instants_intervals_and_comments() -> None:
    events = parse_timeline(
        """# before
        10 { :H1 :pow :Pw1 ; :loc :L1 }  # after
        15..17 {
          :H2 :pow 2.50 .   # within }
          :H2 :loc :L1 .
        } -3..-1{:a :b :c}""",
        PREFIXES,
    )
    assert [(e.name, e.start, e.end, len(e.triples), e.line) for e in events] == [
        ("e1", 10, 10, 2, 2), ("e2", 15, 17, 2, 3), ("e3", -3, -1, 1, 6),
    ]  # fmt: skip
    assert events[1].triples[0].object == Literal("2.50", "http://www.w3.org/2001/XMLSchema#decimal")
    assert {e.kind for e in events} == {TimeKind.INTEGER}


def test_date_times() -> None:
    (event,) = parse_timeline("2026-01-01T00:00:20Z..2026-01-01T00:00:21.5Z { :W1 :value 3 }", PREFIXES)
    assert event.kind is TimeKind.DATETIME
    assert event.start == parse_datetime("2026-01-01T00:00:20Z")
    assert event.end - event.start == 1_500_000


@pytest.mark.parametrize(
    "graph",
    [
        ':a :b "}"', ":a :b '}'", ':a :b "\\"}"', ':a :b """ } " "" } """', ":a :b '''}'\\'''}'''", ":a <http://e/#b> 1",
        ":a :b :c # } \n", ":a :b '#' ; :c '}'", ":a :b '<' , '}'", ":a :b\\,c 1", ":a :b '''\n}\n'''",
    ],
)  # fmt: skip
def test_braces_that_are_none(graph: str) -> None:
    events = parse_timeline(f"1 {{ {graph} }} 2 {{ :a :b :c }}", PREFIXES)
    assert [event.start for event in events] == [1, 2]


def test_prefixes_may_be_declared() -> None:
    (event,) = parse_timeline("@prefix x: <http://x/> .\nPREFIX y: <http://y/>\n1 { x:a y:b xsd:int }")
    assert event.triples[0].predicate == IRI("http://y/b")


def test_nothing_is_no_events() -> None:
    assert parse_timeline("  # only a comment") == []


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("10 :a :b :c", 1, "{"),
        ("10 { :a :b :c", 1, "never closed"),
        ("10 { :a :b '} \n 11 { :a :b :c }", 1, "Turtle"),
        ("10 { }", 1, "one or more triples"),
        ("\n{ :a :b :c }", 2, "a time"),
        ("ten { :a :b :c }", 1, "ten"),
        ("10.. { :a :b :c }", 1, "dateTime"),
        ("17..15 { :a :b :c }", 1, "before it starts"),
        ("1 { :a :b :c }\n2026-01-01T00:00:00Z { :a :b :c }", 2, "mixed"),
        ("99999999999999999999 { :a :b :c }", 1, "64 bits"),
        ("1 { :a :b :c }\n2 {\n :a :b ] }", 3, "Turtle"),
        ("1 { :a { :b } }", 1, "within"),
    ],
)
def test_errors_tell_the_line(text: str, line: int, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        parse_timeline(text, PREFIXES)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_a_given_kind_rules() -> None:
    with pytest.raises(GraphError, match="mixed"):
        parse_timeline("1 { :a :b :c }", PREFIXES, kind=TimeKind.DATETIME)


def test_events_become_graph_events() -> None:
    (event,) = parse_timeline("1 { :a :b 'é' }", PREFIXES)
    ready = event.graph_event(3)
    assert (ready.stream_index, ready.name, ready.triples) == (3, "_:e1", [("<http://e/a>", "<http://e/b>", '"é"')])
