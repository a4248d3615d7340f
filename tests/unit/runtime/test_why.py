"""What an answer rests on: of logical events the axioms, of composite ones their parts.

time    1         2        3
item    A(x)      B(y)     B(x)
"""

from __future__ import annotations

import json

import scepter
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

NS = "http://e/"
QUERY = f"""PREFIX : <{NS}>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT X MATCH A SEQ B WITHIN 5
EVENT Y MATCH X OR A
RETURN Y AS EVENT STREAM"""
ONTOLOGY = f"""PREFIX : <{NS}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Special rdfs:subClassOf :ClassB . :Other rdfs:subClassOf :ClassA .
"""


def item(name: str, kind: str, time: int) -> scepter.Event:
    return scepter.Event(NS + "s", f"<{NS}{name}> a <{NS}{kind}> .", time)


def answered(**options: bool) -> list[scepter.Match]:
    engine = scepter.Engine(scepter.parse(QUERY, "obep"), ontology=ONTOLOGY, **options)  # type: ignore[arg-type]
    found = engine.push_all([item("x", "ClassA", 1), item("y", "Special", 2)])
    return found + engine.close()


def lines(why: Why | None) -> list[str]:
    assert why is not None
    return list(why.lines(TimeKind.INTEGER, lambda term: short(str(term)), short))


def short(text: str) -> str:
    return text.replace(f"<{NS}", ":").replace("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "a").replace(">", "")


def test_nothing_is_told_unless_asked() -> None:
    assert [match.why for match in answered()] == [None, None]


def test_the_answers_are_the_same_with_and_without() -> None:
    assert [match.row() for match in answered()] == [match.row() for match in answered(why=True)]


def test_a_composite_event_shows_its_parts_down_to_axioms_and_triples() -> None:
    first, second = answered(why=True)
    assert lines(first.why)[1:] == [
        "  by :Y MATCH :X OR :A",
        "  :A(:x) at 1",
        "    by :A EquivalentTo: :ClassA",
        "    :x a :ClassA .",
    ]
    told = lines(second.why)
    assert [line for line in told[1:] if "occurrence" not in line] == [
        "  by :Y MATCH :X OR :A",
        "    by :X MATCH :A SEQ :B WITHIN 5 time units",
        "    :A(:x) at 1",
        "      by :A EquivalentTo: :ClassA",
        "      :x a :ClassA .",
        "    :B(:y) at 2",
        "      by :Special SubClassOf: :ClassB",
        "      by :B EquivalentTo: :ClassB",
        "      :y a :Special .",
    ]
    assert told[0].startswith(":Y(<urn:scepter:occurrence:") and told[0].endswith(" at 1 to 2")


def test_it_survives_json() -> None:
    for match in answered(why=True):
        assert match.why is not None
        assert Why.read(json.loads(json.dumps(match.why.record()))) == match.why
        assert match.why.record(TimeKind.DATETIME)["start"].startswith("1970-01-01T00:00:00.00000")


def test_an_occurrence_made_in_two_ways_is_told_once() -> None:
    engine = scepter.Engine(scepter.parse(QUERY.replace("RETURN Y", "RETURN X"), "obep"), why=True)
    found = engine.push_all([item("x", "ClassA", 1), item("u", "ClassA", 1), item("y", "ClassB", 2)]) + engine.close()
    assert len(found) == 1  # SEQ keeps the right side's assertions: both pairs give the same
    assert found[0].why is not None and len(found[0].why.parts) == 2
