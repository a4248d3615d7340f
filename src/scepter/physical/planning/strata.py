"""Rules and the order in which they are applied at an instant (spec/20-ep-sparql rule 9).

Rules that feed each other make a stratum; strata come in the order in which they feed. Within one, rules are applied until
nothing new is derived. OPTIONAL, MINUS, EXISTS and aggregates over what a lower stratum derives thus see all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node, PathPattern, Pattern, TriplePattern
from scepter.algebra.timed import Rule, TimedQuery
from scepter.algebra.walk import find
from scepter.ontology.schema import Schema
from scepter.rdf.terms import IRI, BlankNode, Term, Triple

_ANY = BlankNode("any")
"""Stands for what a template's variables may become."""


def strata(rules: Sequence[Rule], schema: Schema) -> list[list[int]]:
    """The rules by number, in strata: a rule comes after all that feed it, together with those that it feeds in turn."""
    feeds = {i: {j for j in range(len(rules)) if feeds_pattern(rules[i], rules[j].pattern, schema)} for i in range(len(rules))}
    reach = {i: _reachable(i, feeds) for i in feeds}
    order: list[list[int]] = []
    placed: set[int] = set()
    while len(placed) < len(rules):
        for i in feeds:
            before = {j for j in feeds if i in reach[j] and j not in reach[i]}
            if i not in placed and before <= placed:
                together = sorted({i} | {j for j in reach[i] if i in reach[j]})
                order.append(together)
                placed.update(together)
    return order


def _reachable(start: int, feeds: dict[int, set[int]]) -> set[int]:
    found: set[int] = set()
    pending = list(feeds[start])
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += feeds[node]
    return found


def feeds_pattern(rule: Rule, pattern: Pattern, schema: Schema) -> bool:
    """Whether a triple that the rule derives, or one that such a triple entails, can match something in a pattern."""
    derived = [t for template in rule.template for t in _examples(template, schema)]
    wanted: list[tuple[Term | None, ...]] = [_constants(t.places) for t in find(pattern, TriplePattern)]
    # A path is matched within an event's graph, and what a rule derives from one solution is one.
    paths = next(find(pattern, PathPattern), None) is not None
    return paths or any(_may_match(triple, terms) for triple in derived for terms in wanted)


def whole_nodes(rules: Sequence[Rule], parts: Iterable[Rule | TimedQuery]) -> tuple[IRI, ...]:
    """The predicates of the nodes that rules derive, where each solution derives one new blank node with at most one object for
    each predicate, and no pattern asks for any predicate there is; none otherwise."""
    found: dict[IRI, None] = {}
    for rule in rules:
        predicates = [t.predicate.term for t in rule.template if isinstance(t.predicate, Constant)]
        iris = [term for term in predicates if isinstance(term, IRI)]
        subjects = {label_of(triple.subject) for triple in rule.template}
        new_objects = any(label_of(triple.object) is not None for triple in rule.template)
        if len({*iris}) != len(rule.template) or len(subjects) != 1 or None in subjects or new_objects:
            return ()
        found |= dict.fromkeys(iris)
    any_predicate = any(isinstance(t.predicate, Variable) for part in parts for t in find(part.pattern, TriplePattern))
    return () if any_predicate else tuple(found)


def label_of(node: Node) -> str | None:
    """The label of a template's blank node."""
    if isinstance(node, Constant):
        return node.term.label if isinstance(node.term, BlankNode) else None
    return node.name if node.name.startswith("_:") else None


def _examples(template: TriplePattern, schema: Schema) -> Iterable[Triple]:
    subject, predicate, object = (_term(n) for n in template.places)
    if predicate == _ANY:
        return [Triple(_ANY, _ANY, _ANY)]
    return schema.consequences(Triple(subject, predicate, object))


def _term(node: Node) -> Term:
    return node.term if isinstance(node, Constant) and not isinstance(node.term, BlankNode) else _ANY


def _constants(nodes: Iterable[Node]) -> tuple[Term | None, ...]:
    return tuple(None if isinstance(node, Variable) else node.term for node in nodes)


def _may_match(triple: Triple, wanted: tuple[Term | None, ...]) -> bool:
    return all(term in (_ANY, want) or want is None for term, want in zip(triple, wanted, strict=True))
