"""Existences compiled away: what an individual is because of others that must exist.

After `saturate` the conjunctions say all that follows from existences about the individuals that have them, so that rules over
named individuals alone are complete (the calculus of consequences for Horn description logics: each derived axiom is
`M -> some r.N` with sets of concepts M and N, or a conjunction).
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from scepter.algebra.classes import Property
from scepter.ontology.rules import BOTTOM, TOP, BeyondFragment, Concept, Conjunction, RuleBase

_MOST = 20_000
"""Derived axioms beyond which the complete reasoner is the better choice."""


class _Successor(NamedTuple):
    """`body(x) -> property(x, y), filler(y)` for some y."""

    body: frozenset[Concept]
    property: Property
    filler: frozenset[Concept]


def saturate(rules: RuleBase) -> None:
    """Add to the conjunctions what the existences entail. Raises BeyondFragment where that is too much."""
    if not rules.existences:
        return
    known = {
        _Successor(frozenset({e.concept}) - {TOP}, e.property, frozenset({e.filler}) - {TOP}): None for e in rules.existences
    }
    supers = {p: rules.supers(p) for e in rules.existences for p in (e.property, e.property.inverted())}
    propagations: dict[Property, list[tuple[Concept, Concept]]] = defaultdict(list)
    for rule in rules.propagations:
        propagations[rule.property].append((rule.concept, rule.head))
    changed = True
    while changed:
        before = (len(known), len(rules.conjunctions))
        for successor in list(known):
            _extend(successor, rules, known, supers, propagations)
            if len(known) > _MOST:
                raise BeyondFragment(f"more than {_MOST} ways in which existences combine")
        changed = before != (len(known), len(rules.conjunctions))


def _extend(
    successor: _Successor,
    rules: RuleBase,
    known: dict[_Successor, None],
    supers: dict[Property, set[Property]],
    propagations: dict[Property, list[tuple[Concept, Concept]]],
) -> None:
    body, property, filler = successor
    closed = set(closure(filler, rules.conjunctions))
    forward = [pair for above in supers[property] for pair in propagations.get(above, ())]
    closed |= {head for concept, head in forward if concept == TOP or concept in body}
    closed = set(closure(frozenset(closed), rules.conjunctions))
    known[_Successor(body, property, frozenset(closed))] = None
    if BOTTOM in closed:
        _conclude(rules, body, BOTTOM)
        return
    for concept, head in forward:
        if concept != TOP and concept not in body and head not in closed:
            known[_Successor(body | {concept}, property, frozenset({*closed, head}))] = None
    for above in supers[property.inverted()]:
        for concept, head in propagations.get(above, ()):
            if concept == TOP or concept in closed:
                _conclude(rules, body, head)


def _conclude(rules: RuleBase, body: frozenset[Concept], head: Concept) -> None:
    if head in body or any(rule.head == head and rule.body <= body for rule in rules.conjunctions):
        return
    rules.conjunctions[Conjunction(body, head)] = None


def closure(concepts: frozenset[Concept], conjunctions: dict[Conjunction, None]) -> frozenset[Concept]:
    """All concepts that follow from some by conjunctions."""
    found = set(concepts)
    grown = True
    while grown:
        grown = False
        for rule in conjunctions:
            if rule.head not in found and rule.body <= found:
                found.add(rule.head)
                grown = True
    return frozenset(found)
