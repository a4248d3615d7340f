"""The columnar event batch: what every reader yields and every scan consumes.

Terms are keyed 64-bit ids (`rdf.hashing`); numbers travel beside the ids of objects as float64 with a `scale` that says how
exact they are; the text of a term stays in `buffer` and is decoded only for what reaches the output.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from scepter.timeline import TimeKind

NOT_A_NUMBER = -1
"""Scale of an object that is no number, or an ill-typed one."""
MAX_SCALE = 15
"""0 … MAX_SCALE: an xsd:integer (or derived) or xsd:decimal with so many digits after the point and at most 15 significant
digits, so that float64 tells any two of them apart."""
DOUBLE = 100
"""Scale of an xsd:double: the float64 is the value."""
INEXACT = 101
"""Scale of a number that float64 does not carry exactly (long integers and decimals, xsd:float): decide from the text."""


@dataclass(slots=True)
class EventBatch:
    """Events with their triples, in arrival order. Row r of the triple columns belongs to the event e with
    `first[e] <= r < first[e + 1]`. An event's triples are a set: readers leave repeated ones out."""

    buffer: NDArray[np.uint8]
    """N-Quads bytes that the offsets point into."""
    kind: TimeKind

    stream: NDArray[np.int32]
    """Per event: index into the run's streams."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    name_at: NDArray[np.int64]
    """Per event: offset of the graph name's term in the buffer, -1 if the event has none."""
    first: NDArray[np.int64]
    """Per event, plus one: its first triple row."""

    subject: NDArray[np.uint64]
    predicate: NDArray[np.uint64]
    object: NDArray[np.uint64]
    subject_at: NDArray[np.int64]
    """Per triple: offset of the term's first byte; a term's text is self-delimiting (`rdf.scanner.term_end`)."""
    predicate_at: NDArray[np.int64]
    object_at: NDArray[np.int64]
    number: NDArray[np.float64]
    """Per triple: the object's value where `scale` is not NOT_A_NUMBER."""
    scale: NDArray[np.int8]

    @property
    def events(self) -> int:
        """How many events the batch holds."""
        return len(self.end)

    @property
    def triples(self) -> int:
        """How many triples the batch holds."""
        return len(self.subject)

    @property
    def bytes(self) -> int:
        """The memory that its columns and texts take."""
        return sum([getattr(self, name).nbytes for name in _COLUMNS])


_COLUMNS = tuple(column.name for column in fields(EventBatch) if column.name != "kind")


def kept(batch: EventBatch, wanted: NDArray[np.bool_]) -> EventBatch:
    """The wanted events of a batch; texts stay where they are."""
    sizes = np.diff(batch.first)
    rows = np.repeat(wanted, sizes)
    first = np.concatenate([[0], np.cumsum(sizes[wanted])]).astype(np.int64)
    return EventBatch(
        batch.buffer, batch.kind, batch.stream[wanted], batch.start[wanted], batch.end[wanted], batch.name_at[wanted], first,
        batch.subject[rows], batch.predicate[rows], batch.object[rows],
        batch.subject_at[rows], batch.predicate_at[rows], batch.object_at[rows], batch.number[rows], batch.scale[rows],
    )  # fmt: skip


def joined(earlier: EventBatch, later: EventBatch, shift: int) -> EventBatch:
    """The events of two batches of one kind of time, one after the other. The texts of the later one stand `shift` bytes behind
    those of the earlier: where they stand in the arena that has taken both, so that neither is added to it again."""
    rows, between = earlier.triples, np.zeros(shift - len(earlier.buffer), np.uint8)
    named = np.where(later.name_at < 0, later.name_at, later.name_at + shift)
    columns = {
        name: np.concatenate(
            [getattr(earlier, name), getattr(later, name) + shift if name.endswith("_at") else getattr(later, name)]
        )
        for name in ("subject_at", "predicate_at", "object_at", "number", "scale", "subject", "predicate", "object")
    }
    return EventBatch(
        np.concatenate([earlier.buffer, between, later.buffer]), earlier.kind,
        np.concatenate([earlier.stream, later.stream]), np.concatenate([earlier.start, later.start]),
        np.concatenate([earlier.end, later.end]), np.concatenate([earlier.name_at, named]),
        np.concatenate([earlier.first, later.first[1:] + rows]), **columns,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An input line or event that could not be used, or came too late."""

    source: str
    line: int | None
    reason: str
    text: str = ""
    count: int = 1
    """How many there are: of one reason only the first ones are told each for itself (`rdf.limits`)."""

    def fields(self) -> dict[str, str | int | None]:
        """As JSON: `count` only where it is more than one."""
        found: dict[str, str | int | None] = {
            "source": self.source, "line": self.line, "reason": self.reason, "text": self.text,
        }  # fmt: skip
        return found if self.count == 1 else {**found, "count": self.count}
