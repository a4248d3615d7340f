"""Minimal justifications by rules against all subsets, judged by building models."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, note, settings

from naive.chase import minimal_justifications
from property.obep_strategies import EXAMPLES, NS, axioms, graphs, left
from scepter.algebra.classes import ClassExpression, Named
from scepter.algebra.events import LogicalEvent
from scepter.errors import OptionError
from scepter.kernel.sparql.dataset import Graph
from scepter.ontology.axioms import Axiom, Ontology, SubClassOf
from scepter.ontology.recognition import Recogniser, beyond
from scepter.rdf.terms import IRI, Triple

H = IRI(NS + "H")


@settings(deadline=None, max_examples=3 * EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(axioms, left(), graphs, graphs)
def test_rules_find_what_all_subsets_say(
    ontology: list[Axiom], description: ClassExpression, static: list[Triple], item: list[Triple]
) -> None:
    every = [*ontology, SubClassOf(description, Named(H))]
    assert all(beyond(axiom) is None for axiom in every)
    note(every)
    wanted = minimal_justifications(every, sorted({*static, *item}, key=str), frozenset(item), [H])
    try:
        recogniser = Recogniser([LogicalEvent(H, description)], Ontology(tuple(ontology)), [Graph(static)])
    except OptionError as error:
        assert error.code == "inconsistent-ontology"
        assert wanted is None
        return
    (inference,) = recogniser.infer([item])
    event("contradiction" if wanted is None else f"justifications: {min(3, len(wanted))}")
    if wanted is None:
        assert inference.conflict is not None
    else:
        assert inference.conflict is None
        found = [(each.event, each.individual, each.justification) for each in inference.found]
        assert len(found) == len(set(found))
        assert set(found) == wanted
