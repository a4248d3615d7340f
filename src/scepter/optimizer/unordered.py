"""Rewriting of the graph patterns of scans, where neither time nor the order of solutions matters.

A scan's pattern is evaluated on one event, so that all its solutions have that event's time. What a pattern over several
events means depends on which of its parts matched when (two equal triple patterns may match two events), so that rules for
scans do not hold there. Below LIMIT, SAMPLE and sums of floating point numbers even the order of solutions matters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scepter.algebra.patterns import Group, Slice
from scepter.algebra.query import Query, Scan
from scepter.algebra.walk import Algebra, rewrite, walk


def rewrite_unordered(query: Query, function: Callable[[Algebra], Algebra]) -> Query:
    """As `algebra.walk.rewrite`, but only inside scans, and not below a Slice or a Group."""
    return rewrite(query, lambda node: _inside(node, function) if isinstance(node, Scan) else node)


def _inside(scan: Scan, function: Callable[[Algebra], Algebra]) -> Scan:
    kept = {id(below) for top in walk(scan) if isinstance(top, Slice | Group) for below in walk(top)}

    def where_free(node: Algebra) -> Algebra:
        return node if id(node) in kept else function(node)

    pattern = rewrite(scan.pattern, where_free)
    filters = tuple(rewrite(condition, where_free) for condition in scan.filters)
    if pattern is scan.pattern and all(new is old for new, old in zip(filters, scan.filters, strict=True)):
        return scan
    return replace(scan, pattern=pattern, filters=filters)
