"""The rules for a pattern that stands in no sequence."""

from __future__ import annotations

from collections.abc import Iterable

from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Ask, Query, Scan, Sequence, Step
from scepter.optimizer.pipeline import RULES, Rule
from scepter.rdf.terms import IRI


def optimize_pattern(pattern: Pattern, rules: Iterable[Rule] = RULES) -> Pattern:
    """The pattern after every rule, with the same solutions.

    >>> from scepter.algebra.text import format_node, parse_node
    >>> from scepter.algebra.patterns import Join
    >>> print(format_node(optimize_pattern(parse_node("(join (bgp (triple ?s <p> ?o)) (bgp (triple ?s <q> ?r)))", Join))))
    (bgp (triple ?s <p> ?o) (triple ?s <q> ?r))
    """
    # The rules are written for queries; a scan that has no filters of its own is nothing but its pattern.
    query = Query(Ask(), (), Sequence((Step(Scan("", IRI(""), pattern)),)))
    for rule in rules:
        query = rule(query)
    scan = query.pattern.steps[0].atom
    assert isinstance(scan, Scan)
    if scan.filters:
        raise ValueError("a rule gave filters to a scan that had none")
    return scan.pattern
