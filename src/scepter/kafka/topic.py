"""A topic as a run sees it: what it holds, and what its first messages tell about all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scepter.kafka.address import Address
from scepter.kafka.client import Bounds, bounds, partitions, starts
from scepter.kafka.messages import Span, read_span
from scepter.rdf.batch import DeadLetter
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.timeline import TimeKind

if TYPE_CHECKING:
    from scepter.rdf.readers import Lift

_AT_LEAST: Final = 50_000
"""Fewer messages cost more in tasks than they gain in parallel work."""
_MOST: Final = 1 << 20
_LOOKED_AT: Final = 1000
"""Messages of a partition that may be unusable before one tells the format and the kind of time."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the first messages tell."""

    format: str
    kind: TimeKind | None


def held(address: Address) -> dict[int, Bounds]:
    """What the topic holds now, by partition; OptionError if there is no such topic, or nobody answers."""
    return bounds(address, partitions(address))


def spans_of(address: Address) -> list[Span]:
    """All that a run to the end reads: from where the address says to what is there now."""
    now = held(address)
    begin = starts(address, now)
    return [Span(number, begin[number], each.high) for number, each in now.items() if begin[number] < each.high]


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


def skipped(address: Address, partition: int, begin: int, low: int) -> DeadLetter:
    """What is told of messages that were deleted before they were read."""
    reason = f"deleted before they were read: the messages up to offset {low - 1}"
    return DeadLetter(address.place(partition, begin), None, reason)


def told_by(
    address: Address, now: Mapping[int, Bounds], times: TimeProperties = PROV_TIMES, lift: Lift | None = None
) -> Told | None:
    """The format and the kind of time of the first message that has both, else its format; None of an empty topic.
    OptionError if no message tells a format."""
    # who plans what to read of a topic whose format is known does without them, and without the kernels that they load
    from scepter.kafka.payloads import Payloads, looks_like, unknown_format
    from scepter.rdf.hashing import TermKey
    from scepter.rdf.nquads import BATCH_BYTES, ReadState
    from scepter.rdf.readers import Reading

    def looking(state: ReadState) -> Reading:
        return Reading(TermKey.fixed(), 0, address.name, lambda letter: None, frozenset(), state, BATCH_BYTES, {}, lift)

    strange = None
    format: str | None = None
    for number, each in now.items():
        for hand in read_span(address, Span(number, each.low, min(each.high, each.low + _LOOKED_AT))):
            for message in hand:
                found = looks_like(address, message, lift)
                if found is None:
                    strange = strange or message
                    continue
                format = format or found
                state = ReadState(times=times)
                for _ in Payloads(address, found, looking(state)).batches([[message]]):
                    return Told(found, state.kind)
    if format is None and strange is not None:
        raise unknown_format(address, strange)
    return None if format is None else Told(format, None)
