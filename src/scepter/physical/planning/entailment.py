"""Whether what triples entail can be looked up in tables while a sequence is scanned."""

from __future__ import annotations

from functools import lru_cache

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import BGP, TriplePattern
from scepter.ontology.entailment import Flattened
from scepter.ontology.schema import compiled
from scepter.ontology.vocabulary import TYPE, speaks_of_schema
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.terms import Triple

_MOST_PATTERNS = 64
"""A conclusion tells the patterns that it feeds by the bits of a word."""


def entailment_of(plan: QueryPlan, ontology: tuple[Triple, ...]) -> Flattened | None:
    """What triples entail, as far as the scans can use it; None where that cannot be told predicate by predicate, or where
    statements of the ontology match a scan themselves."""
    patterns = single_triples(plan)
    if patterns is None or any(not speaks_of_data(pattern) for pattern in patterns):
        return None
    return _flattened(patterns, ontology)


@lru_cache(maxsize=4)
def _flattened(patterns: tuple[TriplePattern, ...], ontology: tuple[Triple, ...]) -> Flattened | None:
    """Kept for the plan that is made when the kind of time is known: a push would otherwise wait for a large schema again."""
    schema = compiled(ontology)
    if schema.extends_itself() or any(speaks_of_schema(predicate, None) for predicate in schema.triggers()[0]):
        return None
    stated = (entailed for triple in ontology if not schema.is_schema(triple) for entailed in schema.consequences(triple))
    if any(_may_match(pattern, triple) for triple in stated for pattern in patterns):
        return None
    return schema.reduced(patterns).flattened()


def single_triples(plan: QueryPlan) -> tuple[TriplePattern, ...] | None:
    """The triple patterns of the scans; None unless each scan is one."""
    found = []
    for scan in plan.scans:
        if not isinstance(scan.pattern, BGP) or len(scan.pattern.triples) != 1 or scan.graphs:
            return None
        found.append(scan.pattern.triples[0])
    return tuple(found) if len(found) <= _MOST_PATTERNS else None


def speaks_of_data(pattern: TriplePattern) -> bool:
    """Whether no schema statement can match it."""
    if not isinstance(pattern.predicate, Constant):
        return False
    if pattern.predicate.term != TYPE:
        return not speaks_of_schema(pattern.predicate.term, None)
    return isinstance(pattern.object, Constant) and not speaks_of_schema(TYPE, pattern.object.term)


def _may_match(pattern: TriplePattern, triple: Triple) -> bool:
    nodes = pattern.places
    return all(not isinstance(node, Constant) or node.term == term for node, term in zip(nodes, triple, strict=True))
