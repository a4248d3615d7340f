"""Rewriting where the order of solutions does not matter.

Multisets of solutions are the same whichever way they are computed; what LIMIT keeps, what SAMPLE picks and how a sum of
floating point numbers is rounded are not. A rule that may change the order therefore leaves alone what stands below those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from scepter.algebra.patterns import Group, Slice
from scepter.algebra.walk import Algebra, rewrite, walk

A = TypeVar("A", bound=Algebra)


def rewrite_unordered(node: A, function: Callable[[Algebra], Algebra]) -> A:
    """As `algebra.walk.rewrite`, but what stands below a Slice or a Group stays as it is."""
    kept = {id(below) for top in walk(node) if isinstance(top, Slice | Group) for below in walk(top)}
    return rewrite(node, lambda n: n if id(n) in kept else function(n))
