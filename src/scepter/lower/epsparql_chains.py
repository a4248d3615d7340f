"""Groups joined by temporal operators: `{ … } SEQ { … } OPTIONALSEQ { … }` (spec/20-ep-sparql rules 3 to 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scepter.algebra.expressions import And, Expression
from scepter.algebra.patterns import Pattern, Related, Side, Union
from scepter.algebra.scope import in_scope
from scepter.errors import query_error
from scepter.lower.expressions import Clause, Place, fold
from scepter.syntax import tree
from scepter.timeline import Allen

if TYPE_CHECKING:
    from scepter.lower.sparql import GroupLowering

LONGEST_CHAIN = 200
"""A chain leans to the left; this bounds its depth."""

_OPTIONAL = {"OPTIONALSEQ": (Allen.BEFORE, Side.LEFT), "EQUALSOPTIONAL": (Allen.EQUALS, Side.RIGHT)}


def lower_chain(groups: GroupLowering, chain: tree.Chain, outer: frozenset[str]) -> Pattern:
    """The pattern of a chain: left-associative, all operators of one precedence."""
    if len(chain.links) > LONGEST_CHAIN:
        span = chain.links[LONGEST_CHAIN][0].span
        raise query_error("too-complex", f"the chain of groups is longer than {LONGEST_CHAIN} here", span)
    first: tree.Group | None = chain.first
    pattern: Pattern | None = None
    for operator, group in chain.links:
        pattern = _link(groups, first, pattern, operator, group, outer)
        first = None
    assert pattern is not None  # a chain has a link
    return pattern


def _link(
    groups: GroupLowering,
    first: tree.Group | None,
    left: Pattern | None,
    operator: tree.Operator,
    group: tree.Group,
    outer: frozenset[str],
) -> Pattern:
    """One operator: its left side is the chain's first group or what was built so far."""
    relation, optional = _OPTIONAL.get(operator.word, (None, None))
    # The FILTERs of an optional group see both sides; those of an optional chain stay in its groups.
    left_filters: list[tree.FilterClause] = []
    right_filters: list[tree.FilterClause] = []
    if left is None:
        assert first is not None
        if optional is Side.LEFT:
            left, left_filters = groups.parts(first, outer)
        else:
            left = groups.group(first, outer)
    if optional is Side.RIGHT:
        right, right_filters = groups.parts(group, outer)
    else:
        right = groups.group(group, outer)
    if operator.word == "UNION":
        return Union(left, right)
    if relation is None:
        return Related(left, right, Allen.BEFORE if operator.word == "SEQ" else Allen(operator.word))
    visible = in_scope(left) | in_scope(right) | outer
    conditions: list[Expression] = groups.conditions([*left_filters, *right_filters], Place(Clause.FILTER, visible))
    return Related(left, right, relation, optional, fold(And, conditions) if conditions else None)
