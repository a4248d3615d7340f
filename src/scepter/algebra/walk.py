"""One traversal for every node of the algebra: children, walk, find, rewrite.

Built on the dataclass fields, so that a new node needs no code here. A node's children are the algebra nodes in its
fields, also those inside tuples; terms, names, durations and `span` are no nodes. Nothing here recurses over the tree: a
chain of ten thousand `||` is walked like any other query.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeAlias, TypeGuard, TypeVar

from scepter.algebra import continuous, events, expressions, patterns, query, timed, windows
from scepter.algebra.continuous import ContinuousQuery, LastTriples, PeriodicQuery, PeriodicSource, Range, Source
from scepter.algebra.events import CompositeEvent, EventQuery, LogicalEvent
from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Path, Pattern, TriplePattern
from scepter.algebra.query import AfterMatch, Atom, Gap, Program, Query, Result, Sequence, Step, Stream, Window
from scepter.algebra.timed import Rule, Sources, TimedProgram, TimedQuery
from scepter.algebra.windows import CountWindow, Landmark, StreamWindow, TimeWindow, Version, WindowedQuery

Algebra: TypeAlias = (
    Expression | Pattern | Path | TriplePattern | Atom | Step | Gap | Sequence | Stream | Window | AfterMatch | Result
    | Query | Program
    | TimedProgram | TimedQuery | Rule | Sources
    | WindowedQuery | StreamWindow | Landmark | TimeWindow | CountWindow | Version | windows.EventPattern
    | ContinuousQuery | PeriodicQuery | Source | PeriodicSource | Range | LastTriples
    | EventQuery | LogicalEvent | CompositeEvent | events.EventPattern
)  # fmt: skip
"""Any node of the algebra."""

A = TypeVar("A", bound=Algebra)
T = TypeVar("T")


def _nodes_of(module: ModuleType) -> list[type[Any]]:
    members = vars(module).values()
    return [m for m in members if isinstance(m, type) and dataclasses.is_dataclass(m) and m.__module__ == module.__name__]


def _every(*modules: ModuleType) -> tuple[type[Any], ...]:
    return tuple(t for module in modules for t in _nodes_of(module))


WRITTEN_TYPES = _every(expressions, patterns, query)
"""The node types that `algebra.text` writes, in the order of definition."""

NODE_TYPES = (*WRITTEN_TYPES, *_every(timed, windows, continuous, events))
"""Every node type."""

_FIELDS = {t: tuple(f.name for f in dataclasses.fields(t) if f.name != "span") for t in NODE_TYPES}


def is_node(value: object) -> TypeGuard[Algebra]:
    """Whether a value is a node of the algebra (a term or a duration is none)."""
    return type(value) in _FIELDS


def children(node: Algebra) -> tuple[Algebra, ...]:
    """The nodes directly below, in the order of the fields.

    >>> from scepter.algebra.expressions import And, Not, Variable
    >>> children(And(Variable("a"), Not(Variable("b"))))
    (Variable(name='a'), Not(operand=Variable(name='b')))
    """
    found: list[Algebra] = []
    for name in _FIELDS[type(node)]:
        _collect(getattr(node, name), found)
    return tuple(found)


def _collect(value: Any, into: list[Algebra]) -> None:
    if isinstance(value, tuple):
        for item in value:
            _collect(item, into)
    elif type(value) in _FIELDS:
        into.append(value)


def walk(node: Algebra) -> Iterator[Algebra]:
    """The node and everything below it, a node before its children.

    >>> from scepter.algebra.expressions import Not, Variable
    >>> [type(n).__name__ for n in walk(Not(Not(Variable("a"))))]
    ['Not', 'Not', 'Variable']
    """
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def find(node: Algebra, kind: type[T]) -> Iterator[T]:
    """The nodes of a type, in the order of `walk`.

    >>> from scepter.algebra.expressions import And, Variable
    >>> [v.name for v in find(And(Variable("a"), Variable("b")), Variable)]
    ['a', 'b']
    """
    return (n for n in walk(node) if isinstance(n, kind))


def find_outside(node: Algebra, kind: type[T], closed: tuple[type[Any], ...]) -> Iterator[T]:
    """The nodes of a type that stand below none of the closed ones.

    >>> from scepter.algebra.expressions import And, Not, Variable
    >>> [v.name for v in find_outside(And(Variable("a"), Not(Variable("b"))), Variable, (Not,))]
    ['a']
    """
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, kind):
            yield current
        if not isinstance(current, closed):
            pending.extend(reversed(children(current)))


def rewrite(node: A, function: Callable[[Algebra], Algebra]) -> A:
    """The tree with `function` applied to every node, children first; what does not change stays the same object.

    The function sees a node whose children are already rewritten and returns it, or another that may stand in its place.
    A node that occurs several times as one object is rewritten once.

    >>> from scepter.algebra.expressions import And, Not, Variable
    >>> tree = And(Variable("a"), Not(Not(Variable("b"))))
    >>> rewrite(tree, lambda n: n.operand.operand if isinstance(n, Not) and isinstance(n.operand, Not) else n)
    And(left=Variable(name='a'), right=Variable(name='b'))
    """
    done: dict[int, Algebra] = {}
    order = list(walk(node))  # keeps every node alive, so that its id stays its own
    for current in reversed(order):  # the reverse of a pre-order has children before their parents
        if id(current) in done:
            continue
        result = function(_with_children(current, done))
        if type(result) not in _FIELDS:
            raise TypeError(f"a rewrite of {type(current).__name__} returned {result!r}, which is no node of the algebra")
        done[id(current)] = result
    return done[id(node)]  # type: ignore[return-value]  # the function keeps kinds; the caller says which


def _with_children(node: A, done: dict[int, Algebra]) -> A:
    changes: dict[str, Any] = {}
    for name in _FIELDS[type(node)]:
        old = getattr(node, name)
        new = _replaced(old, done)
        if new is not old:
            changes[name] = new
    return dataclasses.replace(node, **changes) if changes else node


def _replaced(value: Any, done: dict[int, Algebra]) -> Any:
    if isinstance(value, tuple):
        items = tuple(_replaced(item, done) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return done[id(value)] if type(value) in _FIELDS else value
