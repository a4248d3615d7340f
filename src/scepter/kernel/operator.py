"""The contract of columnar operators: what a plan's nodes become when they run.

The engine holds the reorder buffer, the watermark and lateness; an operator sees whole instants in order. `process` is given
the rows that its inputs produced since the last call and the time up to which everything is known, and answers with the rows
that are now certain. An instant that is still open is processed between `save` and `undo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from scepter.kernel.rows import Int64, Rows
from scepter.kernel.state.container import Arrays
from scepter.physical.nodes.nodes import Schema


@dataclass(slots=True)
class Until:
    """How far time is known: all rows that end up to `time` have been given. `last`: the input has ended, and windows close.
    `open`: more rows that end at `time` may come, and what is done now may be undone."""

    time: int
    last: bool = False
    open: bool = False

    @property
    def closed(self) -> int:
        """No row that ends up to here can come any more."""
        return self.time - 1 if self.open else self.time


class Operator(Protocol):
    """One node of a plan at work.

    Contract: rows given to `process` end after every row given before (whole instants, in order). Rows it gives end no later
    than `until.time`; an operator whose answer at an instant may still change with time holds it back itself.
    """

    @property
    def schema(self) -> Schema:
        """Its rows' variables."""
        ...

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Take what each input gave since the last call; the rows that are certain now."""
        ...

    def rests(self, until: Until) -> bool:
        """Whether `process` without rows would give none and leave it as it is: then it need not be asked."""
        ...

    def save(self) -> None:
        """Start an instant that may be undone."""
        ...

    def undo(self) -> None:
        """Back to `save`."""
        ...

    def evict(self, time: int) -> None:
        """All instants up to `time` are closed: let go of what no later row can use."""
        ...

    def dump(self) -> Arrays:
        """Its state as named arrays; arrays of refs are called `….refs` (or `….names`), arrays of lineage `….lineage`."""
        ...

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        ...

    def refs(self) -> Iterator[Int64]:
        """Each array of text refs that its state holds, to be exchanged in place."""
        ...

    def lineages(self) -> Iterator[Int64]:
        """Each array of lineage nodes that its state holds, to be exchanged in place."""
        ...

    def state_rows(self) -> Mapping[str, int]:
        """How much it keeps, by kind."""
        ...


class Texted(Protocol):
    """Rows of terms, as far as compaction goes: where their texts stand, and what they were made of."""

    @property
    def refs(self) -> Int64:
        """To be exchanged in place."""
        ...

    @property
    def lineage(self) -> Int64:
        """To be exchanged in place."""
        ...

    def __len__(self) -> int: ...


class Holding:
    """What an operator says of the rows that its state holds, as `_kept_rows` tells them."""

    def _kept_rows(self) -> Iterable[Texted]:
        return ()

    def evict(self, time: int) -> None:
        """What is kept goes by itself, or is of use for ever."""

    def refs(self) -> Iterator[Int64]:
        return (table.refs for table in self._kept_rows())

    def lineages(self) -> Iterator[Int64]:
        return (table.lineage for table in self._kept_rows())


class ByRows(Holding):
    """What an operator says that rows alone move."""

    def rests(self, until: Until) -> bool:
        """Always: time alone changes nothing."""
        return True


class ByTime(Holding):
    """What an operator says that may have something to tell whenever time moves on."""

    def rests(self, until: Until) -> bool:
        return False


class Stateless(ByRows):
    """What an operator without state says of it."""

    def save(self) -> None:
        """Nothing to keep."""

    def undo(self) -> None:
        """Nothing to take back."""

    def dump(self) -> Arrays:
        return {}

    def load(self, arrays: Arrays) -> None:
        """Nothing."""

    def state_rows(self) -> Mapping[str, int]:
        return {}


class OfRows(Stateless):
    """An operator that is no more than a function of the rows of its one input."""

    def __init__(self, schema: Schema, made: Callable[[Rows], Rows]) -> None:
        self.schema = schema
        self._made = made

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        return self._made(rows)
