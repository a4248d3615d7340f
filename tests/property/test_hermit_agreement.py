"""Within the fragment, rules and HermiT find the same justifications."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, note, reject, settings

from property.obep_strategies import EXAMPLES, NS, axioms, graphs, left
from scepter.algebra.classes import ClassExpression, HasValue, Named, parts
from scepter.algebra.events import LogicalEvent
from scepter.errors import DataError, OptionError
from scepter.kernel.sparql.dataset import Graph
from scepter.ontology.assertions import Assertions
from scepter.ontology.axioms import Axiom, Ontology, SubClassOf
from scepter.ontology.complete import CompleteReasoner
from scepter.ontology.hermit import available
from scepter.ontology.locality import vocabulary
from scepter.ontology.recognition import Recogniser
from scepter.rdf.terms import IRI, Triple

H = IRI(NS + "H")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(available() is not None, reason=f"no HermiT: {available()}")]


def names_nobody(expression: ClassExpression) -> bool:
    return not isinstance(expression, HasValue) and all(names_nobody(part) for part in parts(expression))


@settings(deadline=None, max_examples=max(2, EXAMPLES // 20), suppress_health_check=list(HealthCheck), database=None)
@given(axioms, left(), graphs, graphs)
def test_rules_and_hermit_agree(
    ontology: list[Axiom], description: ClassExpression, static: list[Triple], item: list[Triple]
) -> None:
    sides = [side for axiom in ontology if isinstance(axiom, SubClassOf) for side in (axiom.sub, axiom.sup)]
    assume(all(names_nobody(side) for side in (*sides, description)))  # with names, each question is a call of its own
    every = [*ontology, SubClassOf(description, Named(H)), SubClassOf(Named(H), description)]
    note(every)
    words = frozenset(word for axiom in every for word in vocabulary(axiom))
    complete = CompleteReasoner(every, [H], Assertions(static), words)
    try:
        (rules,) = Recogniser([LogicalEvent(H, description)], Ontology(tuple(ontology)), [Graph(static)]).infer([item])
    except OptionError:
        assert complete.conflict()
        return
    relevant = complete.relevant(item)
    try:
        (inference,) = complete.infer([relevant])
    except DataError as error:
        assert "round in circles" in str(error)  # a fault of HermiT's own, pinned in tests/unit/ontology
        reject()
    assert (inference.conflict is None) == (rules.conflict is None)
    if rules.conflict is None:
        assert set(inference.found) == set(rules.found)
