"""A graph pattern as a tree of operators, in the user's notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from scepter.algebra.expressions import Aggregate, And, Call, Expression, Variable
from scepter.algebra.notation import Notation
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
    Slice,
    Union,
    Values,
)
from scepter.algebra.query import Ask, Construct, Result, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import SPELLING
from scepter.algebra.walk import Algebra, find, rewrite
from scepter.physical.tree import Node
from scepter.physical.wording import listed
from scepter.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Operators:
    """Makes the operators of a unit's patterns."""

    notation: Notation
    scan: str = "Scan"
    """What matching triple patterns is called."""
    graphs: Mapping[Term, Node] = field(default_factory=dict)
    """What a GRAPH of a name stands for, where that is no graph of the background."""
    matches: Sequence[Node] = ()
    """What MATCH stands for, by number."""
    computed: Mapping[str, Expression] = field(default_factory=dict)
    """The aggregates that generated variables stand for."""

    def tree(self, result: Result, pattern: Pattern, details: Sequence[str] = ()) -> Node:
        """The operators of a query, its result on top."""
        known = self.knowing(pattern)
        if isinstance(result, Select) and isinstance(pattern, Project):
            columns = {v.name for v, e in result.columns if e is None}
            if {v.name for v in _visible(pattern)} == columns:
                pattern = pattern.pattern  # the SELECT says the same
        return Node(known.result(result), tuple(details), (known.pattern(pattern),))

    def knowing(self, pattern: Pattern) -> Operators:
        """The same for patterns that refer to the aggregates of one."""
        return replace(self, computed=_aggregates(pattern))

    def result(self, result: Result) -> str:
        """The result clause."""
        match result:
            case Select(columns, distinct):
                written = (f"?{v.name}" if e is None else f"({self.expression(e)} AS ?{v.name})" for v, e in columns)
                return " ".join(["SELECT DISTINCT" if distinct else "SELECT", *written])
            case Construct(template, into):
                target = "" if into is None else f" INTO STREAM {self.notation.term(into)}"
                return f"CONSTRUCT {{ {' . '.join(self.notation.triple(t) for t in template)} }}{target}"
            case Ask():
                return "ASK"
            case _:
                assert_never(result)

    def expression(self, expression: Expression) -> str:
        """An expression: generated variables as what they stand for, functions of time as the user writes them."""
        return self.notation.expression(rewrite(expression, self._as_written))

    def _as_written(self, node: Algebra) -> Algebra:
        match node:
            case Variable(name) if name in self.computed:
                return self.computed[name]
            case Call(function, arguments) if function in SPELLING:
                return Call(SPELLING[function], arguments)
            case _:
                return node

    def pattern(self, pattern: Pattern) -> Node:
        """The operator of a pattern."""
        match pattern:
            case BGP(()):
                return Node("Empty group", ("one solution that binds nothing",))
            case BGP(triples):
                return Node(self.scan, tuple(map(self.notation.triple, triples)))
            case PathPattern():
                return Node("Path", tuple(self.notation.parts(pattern)))
            case Values():
                return Node("Inline data", tuple(self.notation.parts(pattern)))
            case Graph():
                return self._graph(pattern)
            case Match(number):
                return self.matches[number] if number < len(self.matches) else Node(f"MATCH {{ {number} }}")
            case Join():
                sides = _chain(pattern, Join)
                return self._node("Join", self._on(sides), sides)
            case Union():
                return self._node("UNION", (), _chain(pattern, Union))
            case Related():
                raise AssertionError("only patterns over triple occurrences relate times, and their operators tell that")
            case LeftJoin(left, right, condition):
                return self._optional("OPTIONAL", (left, right), condition)
            case Minus(left, right):
                return Node("MINUS", self._on((left, right)), (self.pattern(left), self.pattern(right)))
            case Filter():
                return self._filter(pattern)
            case Extend() | Group() | OrderBy() | Project() | Distinct() | Slice():
                return self._shaping(pattern)
            case _:
                assert_never(pattern)

    def _node(self, label: str, details: tuple[str, ...], parts: Sequence[Pattern]) -> Node:
        return Node(label, details, tuple(self.pattern(part) for part in parts))

    # ---- two sides

    def _on(self, parts: Sequence[Pattern]) -> tuple[str, ...]:
        """The variables that some part shares with one before it."""
        seen: frozenset[str] = frozenset()
        shared: set[str] = set()
        for part in parts:
            names = in_scope(part)
            shared |= seen & names
            seen |= names
        shown = sorted(name for name in shared if not name.startswith("_:"))
        return (f"joined on {listed(shown)}",) if shown else ("no shared variable: every combination",) if not shared else ()

    def _optional(
        self,
        label: str,
        parts: tuple[Pattern, Pattern],
        condition: Expression | None,
        side: str = "right",
    ) -> Node:
        only = () if condition is None else (f"only if {self.expression(condition)}",)
        children = tuple(map(self.pattern, parts))
        return Node(label, (f"the {side} side is optional", *self._on(parts), *only), children)

    # ---- one side

    def _graph(self, pattern: Graph) -> Node:
        name = getattr(pattern.name, "term", None)
        known = self.graphs.get(name) if name is not None else None
        if known is None:
            known = Node(f"GRAPH {self.notation.node(pattern.name)}")
        return Node(known.label, known.details, (self.pattern(pattern.pattern),))

    def _filter(self, pattern: Filter) -> Node:
        conditions: list[Expression] = []
        inner: Pattern = pattern
        while isinstance(inner, Filter):
            conditions += _conjuncts(inner.condition)
            inner = inner.pattern
        return Node("Filter", tuple(map(self.expression, conditions)), (self.pattern(inner),))

    def _shaping(self, pattern: Extend | Group | OrderBy | Project | Distinct | Slice) -> Node:
        match pattern:
            case Extend():
                return self._extend(pattern)
            case Group(inner, keys, aggregates):
                by = [f"?{v.name}" if v == e else f"({self.expression(e)} AS ?{v.name})" for v, e in keys]
                grouped = (f"by {' '.join(by)}",) if by else ("all in one group",)
                return Node("Group", (*grouped, *(self.expression(e) for _, e in aggregates)), (self.pattern(inner),))
            case OrderBy(inner, conditions):
                order = [f"{'DESC' if down else 'ASC'}({self.expression(e)})" for e, down in conditions]
                return Node("Sort", (f"by {' '.join(order)}",), (self.pattern(inner),))
            case Project(inner):
                names = " ".join(f"?{v.name}" for v in _visible(pattern))
                return Node(f"Project {names}".rstrip(), (), (self.pattern(inner),))
            case Distinct(inner):
                return Node("Distinct", (), (self.pattern(inner),))
            case Slice(inner, offset, limit):
                parts = ([] if limit is None else [f"LIMIT {limit}"]) + ([f"OFFSET {offset}"] if offset else [])
                return Node(" ".join(parts) or "Slice", (), (self.pattern(inner),))
            case _:
                assert_never(pattern)

    def _extend(self, pattern: Extend) -> Node:
        bound: list[str] = []
        inner: Pattern = pattern
        while isinstance(inner, Extend):
            bound.append(f"{self.expression(inner.expression)} AS ?{inner.variable.name}")
            inner = inner.pattern
        return Node("Bind", tuple(reversed(bound)), (self.pattern(inner),))


def _aggregates(pattern: Pattern) -> dict[str, Expression]:
    pairs = (pair for group in find(pattern, Group) for pair in group.aggregates)
    return {v.name: e for v, e in pairs if v.name.startswith("_:") and isinstance(e, Aggregate)}


def _visible(pattern: Project) -> list[Variable]:
    """The variables that a user can have written."""
    return [v for v in pattern.variables if not v.name.startswith("_:")]


def _chain(pattern: Join | Union, kind: type[Join] | type[Union]) -> list[Pattern]:
    """The operands of a chain of one associative operator, from left to right."""
    found: list[Pattern] = []
    pending: list[Pattern] = [pattern]
    while pending:
        node = pending.pop()
        if isinstance(node, (Join, Union)) and isinstance(node, kind):
            pending += (node.right, node.left)
        else:
            found.append(node)
    return found


def _conjuncts(condition: Expression) -> list[Expression]:
    found: list[Expression] = []
    pending = [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, And):
            pending += (node.right, node.left)
        else:
            found.append(node)
    return found
