"""Topics in pieces: what each task of a bounded run reads of one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from scepter.kafka.address import Address
from scepter.kafka.messages import Span, read_span
from scepter.kafka.payloads import Payloads
from scepter.kafka.topic import divided, spans_of
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import ReadLimits
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.times import TimeProperties
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.timeline import TimeKind


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


def read_piece(
    piece: Piece, key: TermKey, stream_index: int, dead_letter: DeadLetterTaker, *, predicates: frozenset[int] | None,
    kind: TimeKind, named: bool, times: TimeProperties, limits: ReadLimits, lift: Lift | None,
) -> Iterator[EventBatch]:  # fmt: skip
    """The events of a piece."""
    run = ReadState(kind, piece.salt, times, limits)
    reading = Reading(key, stream_index, piece.address.name, dead_letter, predicates, run, BATCH_BYTES, {}, lift)
    return Payloads(piece.address, piece.format, reading, named).batches(read_span(piece.address, piece.span))
