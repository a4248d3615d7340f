"""Topics in pieces: what each task of a bounded run reads of one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scepter.kafka.address import Address
from scepter.kafka.messages import Span, read_span
from scepter.kafka.payloads import Payloads
from scepter.kafka.topic import spans_of
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import ReadLimits
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import TimeProperties
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.timeline import TimeKind

_AT_LEAST: Final = 50_000
"""Fewer messages cost more in tasks than they gain in parallel work."""
_MOST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a topic for one task, and the format of its messages."""

    address: Address
    span: Span
    format: str
    salt: int
    """What keeps the numbers and the blank nodes of its events apart from those of the run's other tasks."""


def plan_pieces(address: Address, format: str, parts: int) -> list[Piece]:
    """What a topic holds now, for about so many tasks."""
    spans = divided(spans_of(address), parts)
    return [Piece(address, span, format, secrets.randbits(38) * SALT_ROOM) for span in spans]


def divided(spans: Sequence[Span], parts: int) -> list[Span]:
    """Pieces of spans for about so many tasks.

    >>> [(piece.partition, piece.stop) for piece in divided([Span(0, 0, 90_000), Span(1, 0, 10)], 100)]
    [(0, 45000), (0, 90000), (1, 10)]
    """
    share = min(_MOST, max(_AT_LEAST, -(-sum(span.stop - span.start for span in spans) // parts)))
    return [piece for span in spans for piece in cut(span, share)]


def cut(span: Span, share: int) -> list[Span]:
    """Pieces of a span of at most about so many messages.

    >>> [piece.stop for piece in cut(Span(0, 0, 10), 4)]
    [3, 6, 10]
    """
    length = span.stop - span.start
    count = max(1, -(-length // share))
    edges = [span.start + length * i // count for i in range(count + 1)]
    return [Span(span.partition, edges[i], edges[i + 1]) for i in range(count)]


def read_piece(
    piece: Piece, key: TermKey, stream_index: int, dead_letter: DeadLetterTaker, *, predicates: frozenset[int] | None,
    kind: TimeKind, named: bool, times: TimeProperties, limits: ReadLimits, lift: Lift | None,
) -> Iterator[EventBatch]:  # fmt: skip
    """The events of a piece."""
    run = ReadState(kind, piece.salt, times, limits)
    reading = Reading(key, stream_index, piece.address.name, dead_letter, predicates, run, BATCH_BYTES, {}, lift)
    return Payloads(piece.address, piece.format, reading, named).batches(read_span(piece.address, piece.span))
