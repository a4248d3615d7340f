"""What a data guard demands of both sides of a pattern: the same values, by which their occurrences can be looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scepter.algebra.expressions import Call, Constant
from scepter.algebra.patterns import Filter, Graph, Join, LeftJoin, Pattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.walk import find
from scepter.kernel.occurrences.model import Assertions
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset
from scepter.kernel.sparql.dataset import Graph as GraphOf
from scepter.kernel.sparql.patterns import Plan, compile_pattern
from scepter.rdf.terms import IRI, Term

_VOLATILE = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE"})


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Blocks of a guard, one of each side, that share variables: a pair satisfies the guard only if both bind them alike."""

    variables: tuple[str, ...]
    left: tuple[IRI, Plan]
    right: tuple[IRI, Plan]
    decides: bool
    """Whether the guard says nothing else: whoever shares values satisfies it."""

    def values(self, left: bool, assertions: Assertions) -> set[tuple[Term, ...]]:
        """The values that an occurrence with these assertions offers on its side."""
        label, plan = self.left if left else self.right
        solutions = plan(Context(dataset=Dataset(named={label: GraphOf(sorted(assertions, key=str))})))
        return {tuple(row[name] for name in self.variables) for row in solutions}


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
                    sides = ((labels[0], compile_pattern(one)), (labels[1], compile_pattern(other)))
                    nothing_else = guard in (Join(one, other), Join(other, one))
                    best = SharedValues(shared, *sides, nothing_else and in_scope(one) & in_scope(other) == set(shared))
    return best


def is_lasting(guard: Pattern) -> bool:
    """Whether a guard says the same of the same assertions whenever it is asked."""
    return all(call.function.upper() not in _VOLATILE for call in find(guard, Call))


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


def _label(block: Graph) -> IRI:
    assert isinstance(block.name, Constant) and isinstance(block.name.term, IRI)  # by lowering: a guard names its occurrences
    return block.name.term
