"""Sequences in columns against their twin, the operators; answers by shape against answers item by item."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from unittest.mock import patch

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

from naive.obep import Event
from property.obep_strategies import CLASSES, EXAMPLES, NODES, NS, PROPERTIES, axioms, graphs, left, streams
from roads import exact_evaluators
from scepter.algebra.classes import ClassExpression, Named
from scepter.kernel.background import Background
from scepter.ontology.assertions import Assertions
from scepter.ontology.axioms import Axiom, SubClassOf
from scepter.ontology.program import compile_rules
from scepter.ontology.reasoner import Inference, RuleReasoner
from scepter.ontology.shapes import ShapeReasoner
from scepter.rdf.formats import GraphEvent, events_to_batch, parse_graph
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from scepter.runtime import item_contents
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, parse
from scepter.timeline import TimeKind

MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
BACKGROUND = parse_graph(f"PREFIX : <{NS}>\n:x a :B . :y :p :x . :z :q :y .")
ONTOLOGY = parse_graph(
    f"PREFIX : <{NS}> PREFIX owl: <http://www.w3.org/2002/07/owl#>\n:p owl:inverseOf :r . :C owl:disjointWith :D ."
)
BLOCKS = (
    "EVENT F { ?s :p ?o } EVENT G { ?s :q ?t }",
    "EVENT F { ?s ?v ?o } EVENT G { ?s ?v ?o }",
    "EVENT F { ?s ?v ?o } EVENT G { ?o ?w ?t } FILTER (?s != :x)",
    "EVENT F { ?s ?v ?o OPTIONAL { ?s :q ?t } } EVENT G { ?t ?w ?s }",
    "EVENT F { ?s a ?c } EVENT G { ?t a ?d } FILTER (?c = ?d)",
    "EVENT G { ?s ?v ?o } FILTER NOT EXISTS { EVENT F { ?s ?v ?o } }",
)


@st.composite
def sequences(draw: st.DrawFn) -> Query:
    """Two sequences, one of which may be part of a third event."""
    lines = [f"PREFIX : <{NS}>", "EVENT La AS A", "EVENT Lp AS p some Thing", "EVENT Lq AS (B or q some Thing)"]
    logical = st.sampled_from(["La", "Lp", "Lq"])
    for name in ("One", "Two"):
        within = draw(st.sampled_from(["", " WITHIN 1", " WITHIN 3"]))
        guard = draw(st.sampled_from(["", *(f" IF {{ {block} }}" for block in BLOCKS)]))
        lines.append(f"EVENT {name} MATCH {draw(logical)} AS F SEQ {draw(logical)} AS G{within}{guard}")
    lines.append(f"EVENT Three MATCH {draw(st.sampled_from(['One OR La', 'One MEETS Two', 'NOT One', 'FIRST Two']))}")
    returned = draw(st.sampled_from(["One, Two", "One, Two, Three", "Two, La"]))
    return parse("\n".join([*lines, f"RETURN {returned} AS EVENT STREAM"]), "obep")


def answers(query: Query, stream: list[Event], cuts: list[int], columnar: bool) -> Counter[object]:
    """What the engine answers, its time moved on at the cuts."""
    with nullcontext() if columnar else exact_evaluators():
        engine = LocalEngine(query.program, RunOptions(), Background(BACKGROUND, {}), ontology=tuple(ONTOLOGY))
        rest = list(stream)
        matches: list[Match] = []
        for cut in [*cuts, 10]:
            now = [e for e in rest if e.end <= cut]
            rest = [e for e in rest if e.end > cut]
            rows = [
                GraphEvent(
                    engine.stream_number(IRI(e.stream)),
                    None,
                    e.start,
                    e.end,
                    [(str(s), str(p), str(o)) for s, p, o in e.triples],
                )
                for e in now
            ]
            if rows:
                engine.take(events_to_batch(rows, engine.key, TimeKind.INTEGER, run=engine.reading))
            matches += engine.advance(cut)
            engine.commit()
        matches += engine.finish()
    return Counter(match.row() for match in matches)


@MANY
@given(sequences(), streams(most=12), st.lists(st.integers(0, 6), max_size=3).map(sorted), st.booleans())
def test_columns_answer_as_operators(query: Query, stream: list[Event], cuts: list[int], forgetful: bool) -> None:
    note(query.text)
    with patch.object(item_contents, "_FOUND", 0 if forgetful else 1_000):
        found = answers(query, stream, cuts, columnar=True)
    event(f"answers: {min(found.total(), 5)}")
    assert found == answers(query, stream, cuts, columnar=False)


@MANY
@given(axioms, left(), graphs, st.lists(graphs, min_size=1, max_size=3), st.permutations(range(4)))
def test_items_of_one_shape_entail_the_same(
    ontology: list[Axiom], description: ClassExpression, static: list[Triple], items: list[list[Triple]], order: list[int]
) -> None:
    """Each item comes again with other names for its nodes."""
    goal = IRI(NS + "H")
    program = compile_rules([*ontology, SubClassOf(description, Named(goal))], [goal])
    reasoner = RuleReasoner(program, Assertions(static))
    shapes = ShapeReasoner(reasoner)
    fresh: list[Term] = [IRI(NS + "u"), BlankNode("v"), Literal("w"), IRI(NS + "m")]
    names = dict(zip(NODES, (fresh[i] for i in order), strict=False))
    for item in items:
        renamed = [Triple(names.get(s, s), p, names.get(o, o) if p in PROPERTIES else o) for s, p, o in item]
        assert all(o in CLASSES or p in PROPERTIES for _, p, o in renamed)
        for each in (item, renamed, item):
            assert _comparable(shapes.infer(frozenset(each))) == _comparable(reasoner.infer(frozenset(each)))


def _comparable(inference: Inference) -> object:
    """Which of several contradictions is told is a matter of order."""
    return "contradiction" if inference.conflict is not None else Counter(inference.found)
