"""The graphs of matches, one at a time and by the book: what CONSTRUCT makes of a solution, what an occurrence asserts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import Node, TriplePattern
from scepter.kernel.events.parts import individual_of
from scepter.rdf.terms import IRI, TYPE, BlankNode, Literal, Term, Triple
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.matches import MatchBatch


def template(triples: Sequence[TriplePattern], bindings: Mapping[str, Term], seed: str) -> set[Triple]:
    """A CONSTRUCT template for one solution: triples with an unbound variable or a term out of place are left out.

    A blank node of the template is `seed` and its own label: pass another seed for another solution.
    """
    made = (tuple(_instance(n, bindings, seed) for n in (t.subject, t.predicate, t.object)) for t in triples)
    return {
        Triple(s, p, o)
        for s, p, o in made
        if isinstance(s, (IRI, BlankNode)) and isinstance(p, IRI) and isinstance(o, (IRI, BlankNode, Literal))
    }


def _instance(node: Node, bindings: Mapping[str, Term], seed: str) -> Term | None:
    if isinstance(node, Constant):
        return BlankNode(f"{seed}{node.term.label}") if isinstance(node.term, BlankNode) else node.term
    if node.name.startswith("_:"):
        return BlankNode(f"{seed}{node.name[2:]}")
    return bindings.get(node.name)


def constructed(batch: MatchBatch, row: int) -> tuple[Triple, ...]:
    """A row's graph, sorted; its blank nodes are named after what the match is."""
    assert batch.construct is not None
    bindings = batch.bindings(row)
    solution = (batch.query, int(batch.start[row]), int(batch.end[row]), sorted((k, str(v)) for k, v in bindings.items()))
    seed = "m" + hashlib.blake2b(repr(solution).encode(), digest_size=8).hexdigest()
    return tuple(sorted(template(batch.construct.template, bindings, seed), key=_spelling))


def occurred(batch: EventMatches, row: int) -> tuple[Term, tuple[Triple, ...]]:
    """A row's individual, and its assertions with what that is (OBEP rule 6)."""
    here = slice(batch.first[row], batch.first[row + 1])
    terms = zip(batch.refs[here].tolist(), batch.ids[here].tolist(), strict=True)
    asserted = frozenset(Triple(*map(batch.texts.term, refs, ids)) for refs, ids in terms)
    event = batch.returned[batch.event[row]]
    individual: Term = individual_of(event, int(batch.start[row]), int(batch.end[row]), asserted)
    if batch.individual_ids[row]:
        individual = batch.texts.term(int(batch.individual_refs[row]), int(batch.individual_ids[row]))
    return individual, tuple(sorted(asserted | {Triple(individual, IRI(TYPE), event)}, key=_spelling))


def _spelling(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))
