"""Answers by the shape of items against answers item by item."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from property.obep_strategies import CLASSES, EXAMPLES, NODES, NS, PROPERTIES, axioms, graphs, left
from scepter.algebra.classes import ClassExpression, Named
from scepter.ontology.assertions import Assertions
from scepter.ontology.axioms import Axiom, SubClassOf
from scepter.ontology.program import compile_rules
from scepter.ontology.reasoner import Inference, RuleReasoner
from scepter.ontology.shapes import ShapeReasoner
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple

MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


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
