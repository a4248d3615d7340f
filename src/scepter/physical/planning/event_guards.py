"""Guards of composite events, taken apart: what becomes joins and conditions in columns, and what is asked as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from scepter.algebra.events import CompositeEvent, Labelled, patterns
from scepter.algebra.expressions import Call, Constant, Exists, Expression
from scepter.algebra.patterns import BGP, Filter, Graph, Join, LeftJoin, Pattern
from scepter.algebra.walk import find
from scepter.optimizer.conditions import filters_above
from scepter.physical.nodes.event_nodes import named
from scepter.rdf.terms import IRI

_VOLATILE = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE"})


def is_lasting(guard: Pattern | Expression) -> bool:
    """Whether a guard says the same of the same assertions whenever it is asked."""
    return all(call.function.upper() not in _VOLATILE for call in find(guard, Call))


class Block(NamedTuple):
    """Triples asked of what a name stands for, with the conditions on what they bind alone."""

    label: IRI
    triples: BGP
    conditions: tuple[Expression, ...] = ()


@dataclass(slots=True)
class Asking:
    """A guard, taken apart: blocks that are asked where their names are, conditions on what they bind together, and the whole
    guard where it is more than that. Blocks are then asked before it, without their conditions."""

    labels: frozenset[IRI] = frozenset()
    conditions: tuple[Expression, ...] = ()
    residual: Pattern | None = None
    _blocks: list[Block] = field(default_factory=list)

    @classmethod
    def of(cls, event: CompositeEvent) -> Asking:
        """The guard of an event."""
        guard = event.guard
        if guard is None:
            return cls()
        labels = frozenset(_label(block) for block in find(guard, Graph) if isinstance(block.name, Constant))
        labels &= {part.label for part in patterns(event.pattern) if isinstance(part, Labelled)}
        above, below = filters_above(guard)  # all that is bound is seen by what stands above all
        joined = _joined(below) if all(map(_is_plain, above)) else None
        if joined is None:
            return cls(labels, (), guard, list(_required(guard)))
        blocks, conditions = joined
        return cls(labels, (*above, *conditions), None, blocks)

    def take(self, columns: tuple[str, ...]) -> list[Block]:
        """The blocks whose names are there, each once."""
        here = [block for block in self._blocks if named(block.label) in columns]
        self._blocks = [block for block in self._blocks if block not in here]
        return here

    def waiting(self) -> Asking:
        """The same names, of which none is asked yet."""
        return Asking(self.labels)


def _is_plain(condition: Expression) -> bool:
    return is_lasting(condition) and next(find(condition, Exists), None) is None


def _joined(pattern: Pattern) -> tuple[list[Block], tuple[Expression, ...]] | None:
    """The blocks of a pattern that is nothing but blocks that are all needed, and the conditions on several of them; None for
    any other. Lowering has seen to it that a condition asks only for what the blocks below it bind."""
    match pattern:
        case Graph(Constant(), BGP() as triples):
            return [Block(_label(pattern), triples)], ()
        case Graph(Constant() as name, Filter(condition, inner)):
            return _joined(Filter(condition, Graph(name, inner)))
        case Filter(condition, inner):
            found = _joined(inner)
            if found is None or not _is_plain(condition):
                return None
            blocks, conditions = found
            if len(blocks) > 1:
                return blocks, (condition, *conditions)
            return [blocks[0]._replace(conditions=(condition, *blocks[0].conditions))], conditions
        case Join(left, right):
            before, after = _joined(left), _joined(right)
            return None if before is None or after is None else (before[0] + after[0], before[1] + after[1])
        case _:
            return None


def _required(pattern: Pattern) -> Iterator[Block]:
    """The blocks of triples that every solution needs."""
    match pattern:
        case Graph(Constant(), inner):
            _, triples = filters_above(inner)
            if isinstance(triples, BGP):
                yield Block(_label(pattern), triples)
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
