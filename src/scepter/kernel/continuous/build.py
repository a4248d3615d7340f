"""From a pattern to its operators."""

from __future__ import annotations

from typing import assert_never

from scepter.algebra.expressions import Expression, Variable
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
from scepter.kernel.continuous.leaf import Clock, Leaf
from scepter.kernel.continuous.operators import (
    JoinOperator,
    LeftJoinOperator,
    MinusOperator,
    Operator,
    Side,
    SolutionMemory,
    Stage,
    Surroundings,
    TimelessOperator,
    UnionOperator,
    distinct,
    extended,
    filtered,
    once,
    ordered,
    projected,
    sliced,
)
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.expressions import compile_condition
from scepter.physical.continuous import can_repeat


class Build:
    """The operators of one pattern, with its leaves and memories for whoever feeds and counts them."""

    def __init__(
        self,
        pattern: Pattern,
        static: RDFGraph,
        clock: Clock,
        surroundings: Surroundings,
        context: Context,
        core: tuple[Pattern, Operator] | None = None,
    ) -> None:
        """`core` is a part of the pattern whose solutions come from elsewhere."""
        self.leaves: list[Leaf] = []
        self.memories: list[SolutionMemory] = []
        self._static = static
        self._clock = clock
        self._surroundings = surroundings
        self._context = context
        self._core = core
        self.root = self._operator(pattern)

    def _operator(self, pattern: Pattern) -> Operator:
        if self._core is not None and pattern is self._core[0]:
            return self._core[1]
        match pattern:
            case BGP():
                return self._leaf(pattern)
            case Join(left, right):
                return JoinOperator(self._side(left, right), self._side(right, left))
            case LeftJoin(left, right, condition):
                test = None if condition is None else compile_condition(condition)
                return LeftJoinOperator(self._operator(left), self._side(right, left), test, self._surroundings)
            case Minus(left, right):
                return MinusOperator(self._operator(left), self._memory(right, left))
            case Union():
                return UnionOperator(tuple(self._operator(side) for side in _sides(pattern)))
            case Filter(condition, inner):
                return Stage(self._operator(inner), filtered(condition, self._surroundings))
            case Extend():
                return self._extend(pattern)
            case Values() | Graph():
                return TimelessOperator.of(pattern, self._context)
            case OrderBy() | Project() | Distinct() | Slice():
                return self._modifier(pattern)
            case PathPattern() | Group() | Related() | Match():
                raise ValueError(f"{type(pattern).__name__} has no continuous form")
            case _:
                assert_never(pattern)

    def _extend(self, pattern: Extend) -> Operator:
        """A chain of BINDs, as a SELECT's expressions are, is one stage, not a deep tree."""
        chain: list[tuple[Variable, Expression]] = []
        node: Pattern = pattern
        while isinstance(node, Extend):
            chain.append((node.variable, node.expression))
            node = node.pattern
        return Stage(self._operator(node), extended(chain[::-1], self._surroundings))

    def _modifier(self, pattern: OrderBy | Project | Distinct | Slice) -> Operator:
        inner = self._operator(pattern.pattern)
        if not isinstance(pattern.pattern, (OrderBy, Project, Distinct, Slice)) and can_repeat(pattern.pattern):
            inner = Stage(inner, once)
        match pattern:
            case Project(_, variables):
                return Stage(inner, projected(variables))
            case Distinct():
                return Stage(inner, distinct)
            case OrderBy(_, conditions):
                return Stage(inner, ordered(conditions, self._surroundings))
            case Slice(child, offset, limit):
                if not is_ordered(child):  # among equals the choice may not depend on arrival
                    inner = Stage(inner, ordered((), self._surroundings))
                return Stage(inner, sliced(offset, limit))

    def _leaf(self, pattern: BGP) -> Leaf:
        leaf = Leaf(pattern, self._static, self._clock)
        self.leaves.append(leaf)
        return leaf

    def _side(self, pattern: Pattern, other: Pattern) -> Side:
        return self._leaf(pattern) if isinstance(pattern, BGP) else self._memory(pattern, other)

    def _memory(self, pattern: Pattern, other: Pattern) -> SolutionMemory:
        memory = SolutionMemory(self._operator(pattern), pattern, other, self._clock)
        self.memories.append(memory)
        return memory


def _sides(pattern: Union) -> list[Pattern]:
    sides: list[Pattern] = []
    pending: list[Pattern] = [pattern]
    while pending:  # a long chain of UNIONs is a list, not a deep tree
        node = pending.pop()
        if isinstance(node, Union):
            pending += (node.right, node.left)
        else:
            sides.append(node)
    return sides


def is_ordered(pattern: Pattern) -> bool:
    """Whether the query itself says in which order its rows stand."""
    while isinstance(pattern, (Project, Distinct, Slice)):
        pattern = pattern.pattern
    return isinstance(pattern, OrderBy)
