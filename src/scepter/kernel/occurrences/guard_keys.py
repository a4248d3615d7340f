"""What a data guard demands of both sides of a pattern: the same values, by which their occurrences can be looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, Filter, Graph, Join, LeftJoin, Pattern
from scepter.algebra.scope import certain, in_scope
from scepter.kernel.occurrences.model import Assertions
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset
from scepter.kernel.sparql.dataset import Graph as GraphOf
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.rdf.terms import IRI, Term

_REMEMBERED = 50_000


class Block:
    """`EVENT name { … }` of a guard, asked for the values of some variables."""

    def __init__(self, block: Graph, variables: tuple[str, ...]) -> None:
        self._label = _label(block)
        self._plan = compile_pattern(block)
        self._variables = variables
        # most assertions of an event differ in triples that a block does not look at
        self._predicates = _predicates(block.pattern)
        self._triple = None if self._predicates is None else _places(block.pattern, variables)
        self._known: dict[Assertions, frozenset[tuple[Term, ...]]] = {}

    def values(self, assertions: Assertions) -> frozenset[tuple[Term, ...]]:
        """The values that an occurrence with these assertions offers."""
        if self._predicates is not None:
            assertions = frozenset([triple for triple in assertions if triple.predicate in self._predicates])
        found = self._known.get(assertions)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[assertions] = self._asked(assertions)
        return found

    def _asked(self, assertions: Assertions) -> frozenset[tuple[Term, ...]]:
        if self._triple is not None:  # the usual block: one triple with different variables at both ends
            return frozenset(tuple(triple[place] for place in self._triple) for triple in assertions)
        rows = self._plan(Context(dataset=Dataset(named={self._label: GraphOf(assertions)})))
        return frozenset(tuple(row[name] for name in self._variables) for row in rows)


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Blocks of a guard, one of each side, that share variables: a pair satisfies the guard only if both bind them alike."""

    variables: tuple[str, ...]
    left: Block
    right: Block
    decides: bool
    """Whether the guard says nothing else: whoever shares values satisfies it."""


def shared_values(guard: Pattern, left: frozenset[IRI], right: frozenset[IRI]) -> SharedValues | None:
    """The blocks of a guard with most variables in common, by the names that stand on each side; None if there are none."""
    blocks = list(_required(guard))
    best: SharedValues | None = None
    for one in blocks:
        for other in blocks:
            labels = _label(one), _label(other)
            if labels[0] in left and labels[1] in right:
                shared = tuple(sorted(certain(one) & certain(other)))
                if shared and (best is None or len(shared) > len(best.variables)):
                    sides = Block(one, shared), Block(other, shared)
                    nothing_else = guard in (Join(one, other), Join(other, one))
                    best = SharedValues(shared, *sides, nothing_else and in_scope(one) & in_scope(other) == set(shared))
    return best


def _required(pattern: Pattern) -> Iterator[Graph]:
    """The GRAPH blocks that every solution needs."""
    match pattern:
        case Graph(Constant()):
            yield pattern
        case Join(left, right):
            yield from _required(left)
            yield from _required(right)
        case Filter(pattern=inner) | LeftJoin(left=inner):
            yield from _required(inner)
        case _:
            return


def _predicates(pattern: Pattern) -> frozenset[Term] | None:
    """The predicates that a pattern looks at; None if it may look at any."""
    if not isinstance(pattern, BGP) or not all(isinstance(triple.predicate, Constant) for triple in pattern.triples):
        return None
    return frozenset(triple.predicate.term for triple in pattern.triples if isinstance(triple.predicate, Constant))


def _places(pattern: Pattern, variables: tuple[str, ...]) -> tuple[int, ...] | None:
    """Where the variables stand in a pattern of one triple that matches any triple of its predicate; None for others."""
    if not isinstance(pattern, BGP) or len(pattern.triples) != 1:
        return None
    subject, object = pattern.triples[0].subject, pattern.triples[0].object
    if not isinstance(subject, Variable) or not isinstance(object, Variable) or subject == object:
        return None
    return tuple(0 if name == subject.name else 2 for name in variables)


def _label(block: Graph) -> IRI:
    assert isinstance(block.name, Constant) and isinstance(block.name.term, IRI)  # by lowering: a guard names its occurrences
    return block.name.term
