"""Which variables a pattern can bind, which it always binds, and which an expression reads.

Blank nodes of a pattern are variables too (named `_:x`) and are counted here: they join. `SELECT *` leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from scepter.algebra.expressions import Aggregate, Constant, Exists, Expression, IterationAggregate, Variable
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
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Side,
    Slice,
    Union,
    Values,
)
from scepter.algebra.walk import children, walk

Names: TypeAlias = frozenset[str]
_NONE: Names = frozenset()


def in_scope(pattern: Pattern) -> Names:
    """The variables that a solution of the pattern may bind (SPARQL 1.1 §18.2.1).

    >>> from scepter.algebra.patterns import Values
    >>> sorted(in_scope(Minus(Values((Variable("a"),), ()), Values((Variable("b"),), ()))))
    ['a']
    """
    return _fold(pattern, _in_scope)


def certain(pattern: Pattern) -> Names:
    """The variables that every solution of the pattern binds.

    >>> a, b = Values((Variable("a"),), ()), Values((Variable("b"),), ((None,),))
    >>> sorted(certain(Join(a, b)))
    ['a']
    """
    return _fold(pattern, _certain)


def expression_variables(expression: Expression) -> Names:
    """The variables an expression reads, PREV's included; what stands inside EXISTS and iteration aggregates is not."""
    return _read(expression, through_exists=False)


def mentioned_variables(expression: Expression) -> Names:
    """As `expression_variables`, and every variable an EXISTS inside it mentions: all that its value may depend on."""
    return _read(expression, through_exists=True)


def _read(expression: Expression, *, through_exists: bool) -> Names:
    names: set[str] = set()
    pending = [expression]
    while pending:
        match pending.pop():
            case Variable(name):
                names.add(name)
            case IterationAggregate():
                continue
            case Exists(pattern):
                if through_exists:
                    names.update(n.name for n in walk(pattern) if isinstance(n, Variable))
            case node:
                pending.extend(children(node))  # type: ignore[arg-type]  # below an expression, EXISTS apart, stand expressions
    return frozenset(names)


def _fold(pattern: Pattern, step: Callable[[Pattern, Callable[[Pattern], Names]], Names]) -> Names:
    """Bottom-up without recursion: a chain of thousands of UNIONs is no deeper than any other pattern."""
    done: dict[int, Names] = {}
    order = [pattern]
    for node in order:
        order.extend(_operands(node))
    for node in reversed(order):
        done[id(node)] = step(node, lambda operand: done[id(operand)])
    return done[id(pattern)]


def _operands(pattern: Pattern) -> tuple[Pattern, ...]:
    match pattern:
        case BGP() | PathPattern() | Values() | Match():
            return ()
        case Join() | LeftJoin() | Related() | Union() | Minus():
            return pattern.left, pattern.right
        case Filter() | Extend() | Graph() | Group() | OrderBy() | Project() | Distinct() | Slice():
            return (pattern.pattern,)
        case _:
            assert_never(pattern)


def _in_scope(pattern: Pattern, of: Callable[[Pattern], Names]) -> Names:
    match pattern:
        case BGP() | PathPattern():
            return _matched(pattern)
        case Join() | LeftJoin() | Related() | Union():
            return of(pattern.left) | of(pattern.right)
        case Minus():
            return of(pattern.left)
        case Filter() | OrderBy() | Distinct() | Slice():
            return of(pattern.pattern)
        case Extend():
            return of(pattern.pattern) | {pattern.variable.name}
        case Values():
            return frozenset(v.name for v in pattern.variables)
        case Graph():
            return of(pattern.pattern) | _names(pattern.name)
        case Match():
            return frozenset(v.name for v in (*pattern.always, *pattern.sometimes))
        case Group():
            return frozenset(v.name for v, _ in (*pattern.keys, *pattern.aggregates))
        case Project():
            return frozenset(v.name for v in pattern.variables)
        case _:
            assert_never(pattern)


def _certain(pattern: Pattern, of: Callable[[Pattern], Names]) -> Names:
    match pattern:
        case BGP() | PathPattern():
            return _matched(pattern)
        case Join():
            return of(pattern.left) | of(pattern.right)
        case LeftJoin() | Minus():
            return of(pattern.left)
        case Related(left, right, _, optional):
            return (_NONE if optional is Side.LEFT else of(left)) | (_NONE if optional is Side.RIGHT else of(right))
        case Union():
            return of(pattern.left) & of(pattern.right)
        case Filter() | OrderBy() | Distinct() | Slice():
            return of(pattern.pattern)
        case Extend():
            inner = of(pattern.pattern)
            return inner | {pattern.variable.name} if _never_fails(pattern.expression, inner) else inner
        case Values():
            columns = enumerate(pattern.variables)
            return frozenset(v.name for i, v in columns if all(row[i] is not None for row in pattern.rows))
        case Graph():
            return of(pattern.pattern) | _names(pattern.name)
        case Match():
            return frozenset(v.name for v in pattern.always)
        case Group():
            inner = of(pattern.pattern)
            return frozenset(v.name for v, e in (*pattern.keys, *pattern.aggregates) if _never_fails(e, inner))
        case Project():
            return of(pattern.pattern) & {v.name for v in pattern.variables}
        case _:
            assert_never(pattern)


def _never_fails(expression: Expression, bound: Names) -> bool:
    match expression:
        case Constant() | Aggregate(function="COUNT"):
            return True
        case Variable(name):
            return name in bound
        case _:
            return False


def _matched(pattern: BGP | PathPattern) -> Names:
    if isinstance(pattern, PathPattern):
        return _names(pattern.subject, pattern.object)
    return _NONE.union(*(_names(t.subject, t.predicate, t.object) for t in pattern.triples))


def _names(*nodes: Variable | Constant) -> Names:
    return frozenset(n.name for n in nodes if isinstance(n, Variable))
