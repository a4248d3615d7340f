"""A topic as bounded input in this process: what it holds when the run starts."""

from __future__ import annotations

from collections.abc import Iterator

from scepter.kafka.address import Address, parse_address
from scepter.kafka.messages import Message, merged
from scepter.kafka.payloads import Payloads
from scepter.kafka.topic import held, spans_of, told_by
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Lift, Reading
from scepter.rdf.source import DeadLetterTaker, Progress


class KafkaSource:
    """The messages between the offsets that were the topic's when it was opened: every reading gives the same."""

    def __init__(self, address: Address, lift: Lift | None = None) -> None:
        self.name = address.name
        self._address = address
        self._lift = lift
        self._spans = spans_of(address)
        told = told_by(address, held(address), lift=lift) if not address.format and self._spans else None
        self._format = address.format if told is None else told.format

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
        """The events, in the order of their messages' times."""
        run = run or ReadState()
        if run.assign is not None:
            run.assign.restart()
        reading = Reading(key, stream_index, self.name, dead_letter, predicates, run, batch_bytes, {}, self._lift)
        total = sum(span.stop - span.start for span in self._spans)
        done = 0

        def counted() -> Iterator[list[Message]]:
            nonlocal done
            for hand in merged(self._address, self._spans):
                done += len(hand)
                yield hand
                if progress is not None:
                    progress(done, total)

        if self._spans:
            yield from Payloads(self._address, self._format, reading).batches(counted())

    def lasting(self) -> KafkaSource:
        """Its messages stay, as long as the topic keeps them."""
        return self


def open_kafka(text: str, lift: Lift | None = None) -> KafkaSource:
    """The source that an address names."""
    return KafkaSource(parse_address(text), lift)
