"""Entailment by the book: the rules of spec/50-sparkwave rule 3 on whole graphs, again and again until nothing is new."""

from __future__ import annotations

from collections.abc import Iterable

from scepter.rdf.terms import IRI, OWL, RDFS, TYPE, Literal, Triple

A = IRI(TYPE)
SUB_CLASS_OF = IRI(RDFS + "subClassOf")
SUB_PROPERTY_OF = IRI(RDFS + "subPropertyOf")
DOMAIN = IRI(RDFS + "domain")
RANGE = IRI(RDFS + "range")
INVERSE_OF = IRI(OWL + "inverseOf")
SYMMETRIC = IRI(OWL + "SymmetricProperty")
SCHEMA = (SUB_CLASS_OF, SUB_PROPERTY_OF, DOMAIN, RANGE, INVERSE_OF)


def closed(data: Iterable[Triple], schema: Iterable[Triple]) -> set[Triple]:
    """The data and all it entails; schema statements are left out."""
    known = {*data, *schema}
    while True:
        new = {t for left in known for right in known for t in _conclusions(left, right)}
        new = {t for t in new if not isinstance(t.subject, Literal)} - known
        if not new:
            break
        known |= new
    return {t for t in known if t.predicate not in SCHEMA and not (t.predicate == A and t.object == SYMMETRIC)}


def _conclusions(schema: Triple, data: Triple) -> list[Triple]:
    low, rule, high = schema
    s, p, o = data
    if rule in (SUB_CLASS_OF, SUB_PROPERTY_OF) and p == rule and s == high:
        return [Triple(low, rule, o)]
    if rule == SUB_CLASS_OF and p == A and o == low:
        return [Triple(s, A, high)]
    if p != low:
        return [Triple(o, low, s)] if rule == INVERSE_OF and p == high else []
    if rule == SUB_PROPERTY_OF:
        return [Triple(s, high, o)]
    if rule == DOMAIN:
        return [Triple(s, A, high)]
    if rule == RANGE:
        return [Triple(o, A, high)]
    if rule == INVERSE_OF:
        return [Triple(o, high, s), *([Triple(o, low, s)] if low == high else [])]
    if rule == A and high == SYMMETRIC:
        return [Triple(o, p, s)]
    return []
