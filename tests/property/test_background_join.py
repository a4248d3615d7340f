"""Solutions joined with static graphs by look-ups, against every solution beside every triple."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node, TriplePattern
from scepter.kernel.condition.programs import number_of
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple

KEY = TermKey.fixed()
GRAPH = IRI("http://e/graph")
TERMS: list[Term] = [IRI("http://e/a"), IRI("http://e/b"), Literal("1", XSD + "integer")]
"""Few, so that much agrees."""
terms = st.sampled_from(TERMS)
triples = st.sets(st.integers(0, 26), min_size=6).map(
    lambda at: [Triple(*t) for n, t in enumerate(product(TERMS, repeat=3)) if n in at]
)
Mapping = tuple[Term, ...]
"""What stands in a solution's columns."""


@st.composite
def patterns(draw: st.DrawFn) -> list[TriplePattern]:
    """Over two columns of the solutions; new variables are numbered in the order they stand in."""
    known, found = 2, []
    for _ in range(draw(st.integers(1, 3))):
        nodes: list[Node] = []
        for _ in range(3):
            nodes.append(draw(st.one_of(terms.map(Constant), st.integers(0, known).map(lambda n: Variable(str(n))))))
            known += nodes[-1] == Variable(str(known))
        found.append(TriplePattern(*nodes))
    return found


def table_of(rows: list[Mapping], texts: Texts) -> Solutions:
    n = len(rows)
    flat = [term for row in rows for term in row]
    numbers = [number_of(term) for term in flat]
    return Solutions(
        np.arange(n), np.arange(n), np.zeros(n, np.int8), np.arange(n)[:, None], np.full((n, 1), -1),
        np.array([term_id(KEY, str(term)) for term in flat], np.uint64).reshape(n, 2),
        texts.append([str(term) for term in flat]).reshape(n, 2),
        np.array([number for number, _ in numbers], np.float64).reshape(n, 2),
        np.array([scale for _, scale in numbers], np.int8).reshape(n, 2),
    )  # fmt: skip


def joined(row: Mapping, pattern: TriplePattern, triple: Triple) -> Mapping | None:
    found = list(row)
    for node, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
        if isinstance(node, Constant):
            bound = node.term
        elif int(node.name) < len(found):
            bound = found[int(node.name)]
        else:
            found.append(bound := term)
        if bound != term:
            return None
    return tuple(found)


@settings(max_examples=200, deadline=None)
@given(triples, st.lists(st.tuples(terms, terms), min_size=1, max_size=5), patterns())
@example([Triple(TERMS[0], TERMS[0], o) for o in TERMS], [(TERMS[0], TERMS[1])], [TriplePattern(*map(Variable, "232"))])
def test_look_ups_find_what_every_pair_tells(graph: list[Triple], rows: list[Mapping], asked: list[TriplePattern]) -> None:
    texts, background = Texts(), Background(named={GRAPH.value: graph})
    background.attach(KEY, texts, [(GRAPH, tuple(asked))])
    found = background.join(GRAPH, tuple(asked), table_of(rows, texts))
    expected = [(place, row) for place, row in enumerate(rows)]
    for pattern in asked:
        pairs = ((place, joined(row, pattern, triple)) for (place, row), triple in product(expected, graph))
        expected = [(place, row) for place, row in pairs if row is not None]
    event("some" if expected else "none")
    told = [(place, tuple(map(texts.term, refs))) for place, refs in zip(found.time.tolist(), found.refs.tolist(), strict=True)]
    assert sorted(told, key=repr) == sorted(expected, key=repr)
    for row, (_, mapping) in enumerate(told):
        assert found.ids[row].tolist() == [term_id(KEY, str(term)) for term in mapping]
        new = [number_of(term) for term in mapping]
        objects = [column for column in range(found.width) if found.scale[row, column] >= 0]
        assert all((found.number[row, c], found.scale[row, c]) == new[c] for c in objects)
