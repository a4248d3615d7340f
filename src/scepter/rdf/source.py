"""What a run reads from: the contract between the engines and the places that events come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.timeline import TimeKind

DeadLetterTaker: TypeAlias = Callable[[DeadLetter], None]
Progress: TypeAlias = Callable[[int, int], None]
"""Hears how many bytes of how many are done."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look at the times of a bounded source tells."""

    kind: TimeKind | None
    """None if it holds no event."""
    disorder: int
    """The most by which an event's end lies behind the greatest end before it: events sorted within so much are sorted."""
    first: int
    """The least start and the greatest end; 0 without events."""
    last: int
    events: int
    bytes: int


class EventSource(Protocol):
    """A source of events. A pipe can be read once, its `lasting` copy and all other sources many times."""

    name: str

    def batches(
        self,
        key: TermKey,
        stream_index: int,
        dead_letter: DeadLetterTaker,
        *,
        predicates: frozenset[int] | None = None,
        run: ReadState | None = None,
        batch_bytes: int = BATCH_BYTES,
        progress: Progress | None = None,
    ) -> Iterator[EventBatch]:
        """The events in the order they stand."""
        ...

    def lasting(self) -> EventSource:
        """The same events from a place that can be read many times."""
        ...
