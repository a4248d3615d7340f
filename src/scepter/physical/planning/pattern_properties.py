"""What there is to know of a pattern over triple occurrences before it is planned (spec/20-ep-sparql)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import assert_never

from scepter.algebra.expressions import Call, Constant, Exists, Expression, Variable
from scepter.algebra.patterns import (
    BGP,
    EMPTY,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Match,
    Minus,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Side,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.query import Ask
from scepter.algebra.scope import certain, in_scope, mentioned_variables
from scepter.algebra.timed import TIME_FUNCTIONS, Rule, TimedQuery
from scepter.algebra.walk import find, rewrite, walk
from scepter.optimizer.conditions import conjuncts
from scepter.physical.facts import Seen
from scepter.physical.nodes.time_nodes import hidden
from scepter.timeline import Allen

_UNSTEADY = frozenset(("RAND", "UUID", "STRUUID", "BNODE"))
_LEAVES = (TriplePattern, PathPattern)


def is_unsteady(call: Call) -> bool:
    """Whether a function has another value each time."""
    return call.function in _UNSTEADY


def decides_late(part: TimedQuery | Rule) -> bool:
    """Whether something that ends at the same time can change an answer, so that it waits until its instant is closed."""
    if isinstance(part, TimedQuery) and isinstance(part.result, Ask):
        return True  # it answers once, with the first of the instant
    if any(next(find(part.pattern, kind), None) is not None for kind in (LeftJoin, Minus, Exists, Group, Slice)):
        return True
    if any(map(is_unsteady, find(part.pattern, Call))):
        return True
    return any(r.optional is Side.RIGHT and r.relation is Allen.EQUALS for r in find(part.pattern, Related))


def is_plain(pattern: Pattern) -> bool:
    """Whether a pattern says nothing of time: it then keeps SPARQL's multiplicities (rule 8)."""
    if next(find(pattern, Related), None) is not None:
        return False
    return not any(call.function in TIME_FUNCTIONS for call in find(pattern, Call))


def needs_no_triple(pattern: Pattern) -> bool:
    """Whether a pattern can have a solution that needs no triple, streamed or static: it holds at each instant (rule 13)."""
    match pattern:
        case BGP(triples):
            return not triples
        case Values():
            return True
        case PathPattern(subject, _, object):  # in no step, from a term of the query
            return isinstance(subject, Constant) or isinstance(object, Constant)
        case Graph() | Match():
            return False
        case Join(left, right):
            return needs_no_triple(left) and needs_no_triple(right)
        case Union(left, right):
            return needs_no_triple(left) or needs_no_triple(right)
        case Related(left, right, _, optional):
            return all(needs_no_triple(p) for side, p in ((Side.LEFT, left), (Side.RIGHT, right)) if optional is not side)
        case LeftJoin(left) | Minus(left):
            return needs_no_triple(left)
        case Filter() | Extend() | Project() | Distinct() | OrderBy() | Slice() | Group():
            return needs_no_triple(pattern.pattern)
        case _:
            assert_never(pattern)


def is_constant(pattern: Pattern) -> bool:
    """Whether a pattern's solutions need no triple, streamed or static."""
    if any(bgp.triples for bgp in find(pattern, BGP)):
        return False
    return all(next(find(pattern, kind), None) is None for kind in (PathPattern, Graph, Match, Exists))


def is_static(pattern: Pattern) -> bool:
    """Whether all of a pattern's triples, and it has some, stand in GRAPH."""
    graphs = list(find(pattern, Graph))
    inside = {id(node) for graph in graphs for kind in _LEAVES for node in find(graph, kind)}
    return bool(graphs) and all(id(node) in inside for kind in _LEAVES for node in find(pattern, kind))


def is_ordered(pattern: Pattern) -> bool:
    """Whether the solutions of one end come in an order that the query gives them (ORDER BY)."""
    while isinstance(pattern, (Distinct, Project, Slice)):
        pattern = pattern.pattern
    return isinstance(pattern, OrderBy)


def looks_at_times(pattern: Pattern) -> bool:
    """Whether it can matter when, and how often, a triple occurred."""
    kinds = (Related, LeftJoin, Minus, Group, Slice, Exists)
    return any(
        isinstance(node, kinds) or (isinstance(node, Call) and node.function in TIME_FUNCTIONS) for node in walk(pattern)
    )


def asks_time(expression: Expression) -> bool:
    """Whether an expression asks when a row happened."""
    return any(call.function in TIME_FUNCTIONS for call in find(expression, Call))


def with_variables(expression: Expression) -> Expression:
    """An expression in which the time functions are variables."""

    def replaced(node: Expression) -> Expression:
        return Variable(hidden(node.function)) if isinstance(node, Call) and node.function in TIME_FUNCTIONS else node

    return rewrite(expression, replaced)  # type: ignore[arg-type]


def asks_exists(expression: Expression) -> bool:
    """Whether an EXISTS stands in an expression."""
    return next(find(expression, Exists), None) is not None


def only_chooses(pattern: Pattern) -> bool:
    """Joins and unions of triple patterns, and filters over what those bind."""
    match pattern:
        case BGP(triples):
            return bool(triples)
        case Join(left, right) | Union(left, right) | Related(left, right, _, None):
            return only_chooses(left) and only_chooses(right)
        case Filter(condition, inner):
            return only_chooses(inner) and not asks_exists(condition) and mentioned_variables(condition) <= certain(inner)
        case _:
            return False


def sides(pattern: Union) -> Iterator[Pattern]:
    """All that a chain of UNIONs puts together."""
    pending: list[Pattern] = [pattern]
    while pending:  # a long chain of UNIONs is a list, not a deep tree
        node = pending.pop()
        if isinstance(node, Union):
            pending += (node.right, node.left)
        else:
            yield node


def in_order(triples: Sequence[TriplePattern], expected: Seen | None = None) -> list[TriplePattern]:
    """Always one that hangs together with those before it, since others would multiply the rows; of those the one that is
    expected to find least, and of equals the one that is written first."""
    left, found, bound = list(triples), list[TriplePattern](), set[str]()
    while left:
        names = {id(t): in_scope(BGP((t,))) for t in left}
        best = min(left, key=lambda t: (_apart(names[id(t)], bound), 0 if expected is None else expected(t)))
        left.remove(best)
        found.append(best)
        bound |= names[id(best)]
    return found


def _apart(names: Set[str], bound: Set[str]) -> bool:
    return bool(bound and names) and not names & bound


def outermost(expression: Expression) -> list[Exists]:
    """The EXISTS of an expression that stand in no other EXISTS."""
    found: list[Exists] = []
    inside: set[int] = set()
    for exists in find(expression, Exists):
        if id(exists) not in inside:
            found.append(exists)
            inside.update(id(inner) for inner in find(exists.pattern, Exists))
    return found


def without_exists(expression: Expression, names: Mapping[int, str]) -> Expression:
    """An expression in which some EXISTS, told by their ids, are variables; what stands inside them is theirs."""

    def replaced(node: Expression) -> Expression:
        # `rewrite` gives an EXISTS whose inside is untouched as the same object.
        return Variable(names[id(node)]) if id(node) in names else node

    return rewrite(expression, replaced) if names else expression  # type: ignore[arg-type]


def outermost_group(pattern: Pattern) -> Group | None:
    """The grouping that WINDOW speaks of; VALUES after the modifiers of a grouped query stand beside its groups."""
    while not isinstance(pattern, Group):
        match pattern:
            case Join(left):
                pattern = left
            case Filter() | Extend() | OrderBy() | Project() | Distinct() | Slice():
                pattern = pattern.pattern
            case _:
                return None
    return pattern


def is_semi_join(test: Expression) -> bool:
    """Whether putting the outer row's terms into the pattern of an EXISTS only chooses among its solutions."""
    if not isinstance(test, Exists):
        return False
    inner, conditions = without_filters(test.pattern)
    unsteady = any(is_unsteady(call) for each in conditions for call in find(each, Call))
    return only_chooses(inner) and not unsteady


def without_filters(pattern: Pattern) -> tuple[Pattern, list[Expression]]:
    """A pattern without the filters that stand around it, and the conjuncts of those."""
    conditions = list[Expression]()
    while isinstance(pattern, Filter) and not asks_exists(pattern.condition):
        conditions += conjuncts(pattern.condition)
        pattern = pattern.pattern
    return pattern, conditions


def asks_timestamp(pattern: Pattern) -> bool:
    """Whether an expression asks for the time of a triple."""
    return any(call.function == "TIMESTAMP" for call in find(pattern, Call))


def can_repeat(pattern: Pattern) -> bool:
    """Whether two choices of occurrences can make the same match: two triple patterns that one triple matches, a UNION, inline
    data, or rows that are alike once a sub-SELECT has hidden some variables."""
    if any(next(find(pattern, kind), None) is not None for kind in (Union, Values, Project)):
        return True
    return overlapping(list(find(pattern, TriplePattern)))


def overlapping(triples: Sequence[TriplePattern]) -> bool:
    """Whether one triple may match two of some patterns."""
    return any(one.overlaps(other) for one, other in combinations(triples, 2))


def is_monotone(pattern: Pattern) -> bool:
    """Whether a later triple of the same time can only add matches."""
    kinds = (LeftJoin, Minus, Exists, Slice)
    return pattern == EMPTY or not any(next(find(pattern, kind), None) is not None for kind in kinds)
