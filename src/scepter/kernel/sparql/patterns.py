"""Graph patterns over one graph: the SPARQL 1.1 algebra (§18.5), multisets of solutions, row by row.

A pattern is compiled once into a plan of nested generators; a plan runs over any context. Inside EXISTS the outer
solution's bindings stand for their variables (`Context.substituted`): a BGP, a path or GRAPH starts from them, FILTER and BIND
read them, MINUS does not count them as shared variables, and a sub-SELECT sees only those it projects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias, assert_never

from scepter.algebra.expressions import Call, Expression, Variable
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Match,
    Minus,
    Node,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Slice,
    Union,
    Values,
)
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.walk import find
from scepter.kernel.sparql.aggregates import compile_group, value_or_error
from scepter.kernel.sparql.context import Bindings, Context, Row
from scepter.kernel.sparql.dataset import EMPTY_DATASET, Dataset
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.expressions import compile_condition, compile_expression, once_per_node
from scepter.kernel.sparql.triple_matching import Extension, compile_bgp, compile_path
from scepter.physical.planning.pattern_properties import is_ordered
from scepter.rdf.terms import IRI, Term
from scepter.rdf.values import OrderKey, order_key

Plan: TypeAlias = Callable[[Context], Iterator[Row]]
"""A pattern ready to run over a context's graph."""


def solutions(pattern: Pattern, graph: RDFGraph, dataset: Dataset = EMPTY_DATASET, context: Context | None = None) -> list[Row]:
    """The solutions of a pattern over a graph, as a multiset (in order where the pattern orders them).

    `dataset` holds the named graphs that GRAPH reads. Variables named `_:x` are the pattern's blank nodes; Project drops them.

    >>> from scepter.algebra.expressions import Constant
    >>> from scepter.algebra.patterns import TriplePattern
    >>> from scepter.rdf.terms import Triple
    >>> p, a = IRI("http://p"), IRI("http://a")
    >>> pattern = BGP((TriplePattern(Variable("s"), Constant(p), Variable("o")),))
    >>> solutions(pattern, RDFGraph([Triple(a, p, a)])) == [{"s": a, "o": a}]
    True
    """
    return list(_plan(pattern)(replace(context or Context(), graph=graph, dataset=dataset)))


def compile_pattern(pattern: Pattern) -> Plan:
    """A pattern ready to run."""
    match pattern:
        case BGP() | PathPattern():
            return _leaf(pattern)
        case Join():
            return _join(pattern)
        case LeftJoin():
            return _left_join(pattern)
        case Related():
            raise ValueError("a graph has no times: its solutions stand in no temporal relation")
        case Union():
            return _union(pattern)
        case Minus():
            return _minus(pattern)
        case Filter():
            return _filter(pattern)
        case Extend():
            return _extend(pattern)
        case Values():
            return _values(pattern)
        case Graph():
            return _graph(pattern)
        case Match():
            return _match(pattern)
        case Group():
            inner, groups = compile_pattern(pattern.pattern), compile_group(pattern)
            return lambda context: groups(inner(context), context)
        case OrderBy():
            return _order_by(pattern)
        case Project():
            return _project(pattern)
        case Distinct():
            return _distinct(compile_pattern(pattern.pattern))
        case Slice():
            return _sliced(pattern)
        case _:
            assert_never(pattern)


_plan = once_per_node(compile_pattern)


def _extension(pattern: Pattern) -> Extension | None:
    """How to start the pattern from another's rows, for those where that equals the join."""
    match pattern:
        case BGP():
            return compile_bgp(pattern)
        case PathPattern():
            return compile_path(pattern)
        case _:
            return None


def _leaf(pattern: BGP | PathPattern) -> Plan:
    extend = compile_bgp(pattern) if isinstance(pattern, BGP) else compile_path(pattern)
    names = in_scope(pattern)

    def leaf(context: Context) -> Iterator[Row]:
        return extend({name: term for name, term in context.substituted.items() if name in names}, context)

    return leaf


def _join(pattern: Join) -> Plan:
    if (extend := _extension(pattern.right)) is not None:
        return _nested(compile_pattern(pattern.left), extend)
    if (extend := _extension(pattern.left)) is not None:
        return _nested(compile_pattern(pattern.right), extend)
    left, right, method = compile_pattern(pattern.left), compile_pattern(pattern.right), HashJoin(pattern.left, pattern.right)

    def join(context: Context) -> Iterator[Row]:
        partners = method.table(right(context))
        return ({**row, **other} for row in left(context) for other in partners(row))

    return join


def _nested(outer: Plan, extend: Extension) -> Plan:
    return lambda context: (row for start in outer(context) for row in extend(_substituted(start, context), context))


def _substituted(row: Row, context: Context) -> Row:
    """A row to extend: inside EXISTS every variable of the outer solution is a term already."""
    return {**context.substituted, **row} if context.substituted else row


def _left_join(pattern: LeftJoin) -> Plan:
    left, options = compile_pattern(pattern.left), _options(pattern)
    condition = None if pattern.condition is None else compile_condition(pattern.condition)

    def left_join(context: Context) -> Iterator[Row]:
        partners = options(context)
        for row in left(context):
            alone = True
            for joined in partners(row):
                if condition is None or condition(_visible(joined, context), context):
                    alone = False
                    yield joined
            if alone:
                yield row

    return left_join


def _options(pattern: LeftJoin) -> Callable[[Context], Callable[[Row], Iterator[Row]]]:
    """The rows of the optional side that fit a row, merged with it."""
    if (extend := _extension(pattern.right)) is not None:
        return lambda context: lambda row: extend(_substituted(row, context), context)
    right, method = compile_pattern(pattern.right), HashJoin(pattern.left, pattern.right)

    def options(context: Context) -> Callable[[Row], Iterator[Row]]:
        partners = method.table(right(context))
        return lambda row: ({**row, **other} for other in partners(row))

    return options


def _union(pattern: Union) -> Plan:
    sides: list[Plan] = []
    pending: list[Pattern] = [pattern]
    while pending:  # a long chain of UNIONs is a list, not a deep tree
        node = pending.pop()
        if isinstance(node, Union):
            pending += (node.right, node.left)
        else:
            sides.append(compile_pattern(node))
    return lambda context: (row for side in sides for row in side(context))


def _minus(pattern: Minus) -> Plan:
    left, right, method = compile_pattern(pattern.left), compile_pattern(pattern.right), HashJoin(pattern.left, pattern.right)

    def minus(context: Context) -> Iterator[Row]:
        partners = method.table(right(context))
        for row in left(context):
            if all(disjoint(row, other, context.substituted) for other in partners(row)):
                yield row

    return minus


def _visible(row: Row, context: Context) -> Bindings:
    return {**context.substituted, **row} if context.substituted else row


def _per_solution(context: Context, expressions: Sequence[Expression]) -> Callable[[], Context]:
    """The context of each solution: BNODE("label") makes one node per solution, so its labels start anew."""
    if any(call.function == "BNODE" and call.arguments for e in expressions for call in find(e, Call)):
        return lambda: replace(context, labels={})
    return lambda: context


def _filter(pattern: Filter) -> Plan:
    inner, condition = compile_pattern(pattern.pattern), compile_condition(pattern.condition)

    def filtered(context: Context) -> Iterator[Row]:
        each = _per_solution(context, (pattern.condition,))
        return (row for row in inner(context) if condition(_visible(row, context), each()))

    return filtered


def _extend(pattern: Extend) -> Plan:
    """BIND; a chain of them (a SELECT's expressions) works on one solution at a time."""
    chain: list[tuple[str, Expression]] = []
    node: Pattern = pattern
    while isinstance(node, Extend):
        chain.append((node.variable.name, node.expression))
        node = node.pattern
    chain.reverse()
    inner = compile_pattern(node)
    steps = [(name, compile_expression(expression)) for name, expression in chain]

    def extended(context: Context) -> Iterator[Row]:
        each = _per_solution(context, [expression for _, expression in chain])
        for row in inner(context):
            own, result = each(), dict(row)
            for name, expression in steps:
                if (term := value_or_error(expression, result, own)) is not None:
                    result[name] = term
            if _fits(result, context):
                yield result

    return extended


def _fits(row: Bindings, context: Context) -> bool:
    """Whether a row agrees with the solution that EXISTS has substituted."""
    return all(row.get(name, term) == term for name, term in context.substituted.items())


def _values(pattern: Values) -> Plan:
    names = [variable.name for variable in pattern.variables]
    rows = [{n: t for n, t in zip(names, row, strict=True) if t is not None} for row in pattern.rows]
    return lambda context: (dict(row) for row in rows if _fits(row, context))


def _graph(pattern: Graph) -> Plan:
    inner, name = compile_pattern(pattern.pattern), pattern.name

    def graph(context: Context) -> Iterator[Row]:
        named = context.dataset.named
        wanted = context.substituted.get(name.name) if isinstance(name, Variable) else name.term
        if wanted is not None:
            named = {wanted: named[wanted]} if isinstance(wanted, IRI) and wanted in named else {}
        for iri, one in named.items():
            for row in inner(replace(context, graph=one)):
                if _name_graph(row, name, iri):
                    yield row

    return graph


def _name_graph(row: Row, name: Node, iri: IRI) -> bool:
    """Bind GRAPH's variable in a row of its pattern, which may have bound it to something else."""
    return not isinstance(name, Variable) or row.setdefault(name.name, iri) == iri


def _match(pattern: Match) -> Plan:
    number = pattern.number
    return lambda context: (dict(row) for row in context.mappings[number] if _fits(row, context))


def _order_by(pattern: OrderBy) -> Plan:
    inner = compile_pattern(pattern.pattern)
    conditions = [(compile_expression(expression), descending) for expression, descending in pattern.conditions]

    def ordered(context: Context) -> Iterator[Row]:
        found = sorted(inner(context), key=_spelt)  # which of equal rows a LIMIT keeps may not depend on the order of triples
        rows = [(row, [order_key(value_or_error(e, row, context)) for e, _ in conditions]) for row in found]
        for i, (_, descending) in reversed(list(enumerate(conditions))):
            rows.sort(key=_ith(i), reverse=descending)  # stable, so the first condition is sorted by last
        return (row for row, _ in rows)

    return ordered


def _sliced(pattern: Slice) -> Plan:
    inner, stop = compile_pattern(pattern.pattern), None if pattern.limit is None else pattern.offset + pattern.limit
    if is_ordered(pattern.pattern):
        return lambda context: islice(inner(context), pattern.offset, stop)
    return lambda context: iter(sorted(inner(context), key=_spelt)[pattern.offset : stop])


def _spelt(row: Row) -> list[tuple[str, str]]:
    return sorted((name, str(term)) for name, term in row.items())


def _ith(i: int) -> Callable[[tuple[Row, list[OrderKey]]], OrderKey]:
    return lambda entry: entry[1][i]


def _project(pattern: Project) -> Plan:
    inner, names = compile_pattern(pattern.pattern), [variable.name for variable in pattern.variables]

    def project(context: Context) -> Iterator[Row]:
        if context.substituted:
            seen = {name: term for name, term in context.substituted.items() if name in names}
            context = replace(context, substituted=seen)
        return ({name: row[name] for name in names if name in row} for row in inner(context))

    return project


def _distinct(inner: Plan) -> Plan:
    def distinct(context: Context) -> Iterator[Row]:
        seen: set[frozenset[tuple[str, Term]]] = set()
        for row in inner(context):
            key = frozenset(row.items())
            if key not in seen:
                seen.add(key)
                yield row

    return distinct


_Key: TypeAlias = tuple[Term, ...]
Partners: TypeAlias = Callable[[Row], Iterator[Row]]
"""The rows of the other side that are compatible with a row."""


class HashJoin:
    """How the rows of two patterns find each other: by the shared variables that both sides always bind, and among those
    by comparing the shared variables that may be unbound."""

    __slots__ = ("_keys", "_loose")

    def __init__(self, left: Pattern, right: Pattern) -> None:
        shared = in_scope(left) & in_scope(right)
        sure = certain(left) & certain(right) & shared
        self._keys = tuple(sorted(sure))
        self._loose = tuple(sorted(shared - sure))

    def table(self, rows: Iterable[Row]) -> Partners:
        """The rows of one side, ready to be looked up by rows of the other."""
        buckets: dict[_Key, list[Row]] = {}
        for row in rows:
            buckets.setdefault(self._key(row), []).append(row)

        def partners(row: Row) -> Iterator[Row]:
            return (other for other in buckets.get(self._key(row), ()) if self._agree(row, other))

        return partners

    def _key(self, row: Row) -> _Key:
        return tuple([row[name] for name in self._keys])

    def _agree(self, row: Row, other: Row) -> bool:
        return not any(name in row and name in other and row[name] != other[name] for name in self._loose)


def disjoint(row: Row, other: Row, substituted: Bindings) -> bool:
    """Whether two rows share no variable; inside EXISTS a substituted variable is a term and shared by nobody."""
    return all(name not in other or name in substituted for name in row)
