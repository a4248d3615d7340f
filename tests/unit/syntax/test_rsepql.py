"""RSEP-QL text to its syntax tree."""

from __future__ import annotations

import pytest

from scepter.errors import QueryError
from scepter.rdf.terms import IRI, Literal
from scepter.syntax import rsepql_tree as nodes
from scepter.syntax.parse import detect_language, parse_rsepql

PREFIX = "PREFIX : <http://e/>\n"
WINDOW = "FROM NAMED :S WIN [RANGE 5] AS :w\n"

WHOLE = """PREFIX : <http://example/>
REGISTER ISTREAM :out AS
SELECT ?x ?z
FROM NAMED :S WIN [LND 1] AS :w1
FROM NAMED :S WIN [RANGE 5 STEP 1] AS :w2
FROM NAMED WINDOW :w3 ON :S2 [RANGE 5s STEP 1s]
FROM <static.ttl>  FROM NAMED <graph>
EVENT ON :w1 { ?x :p ?y . } AS E1
EVENT ON :w2 { ?y :q ?z . } AS E2
WHERE { MATCH { E1 SEQ E2 }  WINDOW :w3 { ?z :r ?v }  GRAPH <graph> { ?z :name ?n }  FILTER (?v > 3) }
"""


def query(text: str) -> nodes.RsepqlQuery:
    (found,) = parse_rsepql(PREFIX + text).queries
    return found


def pattern(text: str) -> object:
    (clause,) = query(f"ASK {WINDOW} {{ MATCH {{ {text} }} }}").group.elements
    assert isinstance(clause, nodes.MatchClause)
    return shape(clause.pattern)


def shape(node: nodes.EventExpression | None) -> object:
    match node:
        case nodes.EventLabel(label):
            return label
        case nodes.Extreme(word, operand):
            return word, shape(operand)
        case nodes.EventSequence(operands, policies):
            return tuple(shape(o) for o in operands), tuple(p and p.label for p in policies)
        case None:
            return None


def test_the_whole_of_the_syntax() -> None:
    (found,) = parse_rsepql(WHOLE).queries
    assert found.register is not None and (found.register.operator, found.register.name.iri.value[-3:]) == ("ISTREAM", "out")
    windows = [c for c in found.clauses if isinstance(c, nodes.WindowDeclaration)]
    assert [w.name.iri.value[-2:] for w in windows] == ["w1", "w2", "w3"]
    graphs = [(c.graph.iri, c.named) for c in found.clauses if isinstance(c, nodes.FromGraph)]
    assert graphs == [(IRI("static.ttl"), False), (IRI("graph"), True)]
    assert detect_language(WHOLE) == "rsep-ql"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E1", "E1"),
        ("E1 SEQ E2", (("E1", "E2"), (None,))),
        ("E1 SEQ E2 SEQ E3", (("E1", "E2", "E3"), (None, None))),
        ("E1 seq naive E2 SEQ RECENT E3", (("E1", "E2", "E3"), ("naive", "RECENT"))),
        ("E1 SEQ (E2 SEQ E3)", (("E1", (("E2", "E3"), (None,))), (None,))),
        ("LAST E1 SEQ E2", ((("LAST", "E1"), "E2"), (None,))),
        ("E1 SEQ CHRONOLOGICAL FIRST E2", (("E1", ("FIRST", "E2")), ("CHRONOLOGICAL",))),
        ("E1 SEQ RECENT (E2)", (("E1", "E2"), ("RECENT",))),
        ("FIRST (LAST (E1))", ("FIRST", ("LAST", "E1"))),
        ("RECENT SEQ RECENT", (("RECENT", "RECENT"), (None,))),
        ("FIRST", ("FIRST", None)),
        ("((E1))", "E1"),
    ],
)
def test_event_patterns(text: str, expected: object) -> None:
    assert pattern(text) == expected


@pytest.mark.parametrize(
    ("extent", "expected"),
    [
        ("RANGE 5", ("5", None)),
        ("range 5s slide 1S", ("5 s", "1 S")),
        ("RANGE 3000ms STEP 5m", ("3000 ms", "5 m")),
        ("RANGE 1H STEP PT5S", ("1 H", "PT5S")),
        ("RANGE 2d", ("2 d", None)),
        ("RANGE 1.5s", ("1.5 s", None)),
        ("RANGE -5", ("-5", None)),
    ],
)
def test_time_windows(extent: str, expected: tuple[str, str | None]) -> None:
    clause = query(f"ASK FROM NAMED :S WIN [{extent}] AS :w {{}}").clauses[0]
    assert isinstance(clause, nodes.WindowDeclaration) and isinstance(clause.extent, nodes.RangeExtent)
    assert (clause.extent.width, clause.extent.step) == expected


@pytest.mark.parametrize(
    ("extent", "instant"),
    [
        ("LND 1", "1"),
        ("LND -7", "-7"),
        ("LND 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("LND 2026-01-01T00:00:00.5+01:00", "2026-01-01T00:00:00.5+01:00"),
        ('LND "x"', Literal("x")),
    ],
)
def test_landmarks(extent: str, instant: object) -> None:
    clause = query(f"ASK FROM NAMED WINDOW :w ON :S [{extent}] {{}}").clauses[0]
    assert isinstance(clause, nodes.WindowDeclaration) and isinstance(clause.extent, nodes.LandmarkExtent)
    assert clause.extent.instant == instant


def test_several_queries_and_where_is_optional() -> None:
    text = f"{PREFIX}ASK {WINDOW} {{}} REGISTER :a AS SELECT * {WINDOW} WHERE {{}} LIMIT 3 CONSTRUCT {{}} {WINDOW} {{}}"
    found = parse_rsepql(text).queries
    assert [type(q.result).__name__ for q in found] == ["AskClause", "SelectClause", "ConstructClause"]
    assert found[1].register is not None and found[1].register.operator is None and found[1].modifiers.limit == 3


def test_a_relative_name_is_a_graphs_name_only() -> None:
    with pytest.raises(QueryError, match="relative"):
        parse_rsepql(f"{PREFIX}ASK {WINDOW} {{ ?x <p> ?y }}")


def test_a_long_sequence_is_refused_before_anything_recurses() -> None:
    text = " SEQ ".join(["E1"] * 400)
    with pytest.raises(QueryError, match="nests deeper"):
        pattern(text)
