"""`Recognise` in columns against the reasoner, item by item: random ontologies, static assertions, items, names exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from property.obep_strategies import EXAMPLES, NODES, NS, PROPERTIES, axioms, graphs, left
from scepter.algebra.classes import ClassExpression
from scepter.algebra.events import LogicalEvent
from scepter.errors import OptionError
from scepter.kernel.events.assertion_sets import AssertionSets
from scepter.kernel.events.recognise import Recognising
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Rows
from scepter.kernel.scan.intake import Intake
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.texts import Texts
from scepter.ontology.axioms import Axiom, Ontology
from scepter.ontology.recognition import Recogniser
from scepter.physical.nodes.event_nodes import Contradictions, ItemGraphs, Recognise
from scepter.physical.nodes.nodes import Node
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI, Literal, Term, Triple
from scepter.timeline import TimeKind

MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
EVENTS = [IRI(NS + "H"), IRI(NS + "K")]


class _Scanned:
    """Items through the leaves, and what comes out as terms."""

    def __init__(self, recogniser: Recogniser, events: Sequence[LogicalEvent], static: Sequence[Triple]) -> None:
        self._key, self._texts = TermKey.random(), Texts()
        self._sets = AssertionSets(self._key, self._texts)
        leaves: list[Node] = [
            *(Recognise(each, number, None, True) for number, each in enumerate(events)),
            Contradictions(),
            ItemGraphs(),
        ]
        self._leaves = Recognising(leaves, recogniser, [Graph(static)], self._sets, self._key, self._texts, Lineage(), None)

    def scan(self, items: Sequence[Sequence[Triple]]) -> list[Counter[object]]:
        """Per leaf the item, the assertions, and the individual if there is one."""
        rows = [GraphEvent(0, None, i, i, [(str(s), str(p), str(o)) for s, p, o in item]) for i, item in enumerate(items)]
        batch = events_to_batch(rows, self._key, TimeKind.INTEGER, run=ReadState())
        intake = Intake(batch, self._texts.add(batch), 0)
        return [self._told(each) for each in self._leaves.scan(intake, np.ones(len(items), np.bool_))]

    def _told(self, rows: Rows) -> Counter[object]:
        found: Counter[object] = Counter()
        for ids, refs, end in zip(rows.ids.tolist(), rows.refs.tolist(), rows.end.tolist(), strict=True):
            who = [self._texts.known(refs[1], ids[1])] if len(ids) > 1 else []
            found[(end, self._sets.terms(ids[0], refs[0]), *who)] += 1
        return found


@MANY
@given(axioms, left(), left(), graphs, st.lists(graphs, min_size=1, max_size=4), st.permutations(range(4)))
def test_items_are_recognised_as_one_by_one(
    ontology: list[Axiom],
    first: ClassExpression,
    second: ClassExpression,
    static: list[Triple],
    items: list[list[Triple]],
    order: list[int],
) -> None:
    events = [LogicalEvent(event, each) for event, each in zip(EVENTS, (first, second), strict=True)]
    try:
        recogniser = Recogniser(events, Ontology(tuple(ontology)), [Graph(static)])
    except OptionError:
        return  # the ontology contradicts itself
    if recogniser.used_words() is None:
        return  # for the complete reasoner
    fresh: list[Term] = [IRI(NS + "u"), IRI(NS + "v"), Literal("w"), IRI(NS + "m")]
    names = dict(zip(NODES, (fresh[i] for i in order), strict=False))
    renamed = [
        [Triple(names.get(s, s), p, names.get(o, o) if p in PROPERTIES else o) for s, p, o in item if names.get(s) != fresh[2]]
        for item in items
    ]
    every = [*items, *filter(None, renamed), *items]
    scanned = _Scanned(recogniser, events, static)
    for _ in range(2):  # the second time all shapes are known
        *found, contradicting, graphs_left = scanned.scan(every)
        for number, inference in enumerate(recogniser.infer(every)):
            of = [Counter({key[1:]: n for key, n in each.items() if key[0] == number}) for each in found]  # type: ignore[index]
            wanted = [Counter((j, who) for event, who, j in inference.found if event == iri) for iri in EVENTS]
            assert of == wanted
            assert any(key[0] == number for key in contradicting) == (inference.conflict is not None)  # type: ignore[index]
            assert ((number, frozenset(every[number])) in graphs_left) == (inference.conflict is None)
