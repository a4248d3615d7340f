"""What templates make of rows."""

from __future__ import annotations

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node, TriplePattern
from scepter.algebra.query import Construct
from scepter.kernel.rows import mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from scepter.runtime.matches import MatchBatch
from scepter.timeline import TimeKind

A, P, Q = (IRI(f"http://e/{name}") for name in "apq")
ONE = Literal("1")


def batch(triples: list[tuple[str | Term, str | Term, str | Term]], *rows: dict[str, Term], query: int = 0) -> MatchBatch:
    key, texts, names = TermKey.fixed(), Texts(), ("x", "y")
    ids, refs, _, _ = mappings(len(rows), 2)
    for i, row in enumerate(rows):
        for name, term in row.items():
            at = names.index(name)
            ids[i, at], refs[i, at] = term_id(key, str(term)), texts.append([str(term)])[0]
    view, refs, _ = texts.table_view(ids, refs, np.empty(0, np.int64))
    template = tuple(TriplePattern(*map(node, triple)) for triple in triples)
    times = np.ones(len(rows), np.int64)
    return MatchBatch(query, TimeKind.INTEGER, times, times, names, ids, refs, view, Construct(template), False, lambda row: {})


def node(item: str | Term) -> Node:
    return Variable(item) if isinstance(item, str) else Constant(item)


def test_what_is_no_triple_is_left_out() -> None:
    made = batch([("x", P, "y"), ("y", P, "x")], {"x": A, "y": ONE}, {"x": A})
    assert [made.graph(0), made.graph(1)] == [(Triple(A, P, ONE),), ()]
    assert made.made().tolist() == [0]
    assert batch([("x", "y", "x")], {"x": A, "y": BlankNode("b")}).graph(0) == ()


def test_a_triple_that_two_patterns_make_is_there_once() -> None:
    assert batch([("x", P, "y"), ("x", P, "x")], {"x": A, "y": A}).graph(0) == (Triple(A, P, A),)


def test_blank_nodes_are_the_match_s_own() -> None:
    triples: list[tuple[str | Term, str | Term, str | Term]] = [("_:n", P, "_:n"), ("_:n", Q, "x")]
    first, again, other = batch(triples, {"x": A}), batch(triples, {"x": A}, {"x": P}), batch(triples, {"x": A}, query=1)
    (blank, _, same), (subject, _, value) = first.graph(0)
    assert blank == same == subject and value == A and isinstance(blank, BlankNode)
    assert again.graph(0) == first.graph(0)
    assert len({first.graph(0), again.graph(1), other.graph(0)}) == 3


def test_a_template_without_variables_makes_its_triples_for_every_row() -> None:
    made = batch([(A, P, ONE)], {}, {"x": A})
    assert made.graph(0) == made.graph(1) == (Triple(A, P, ONE),)
