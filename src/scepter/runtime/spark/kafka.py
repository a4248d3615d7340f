"""A topic as a table of events, bounded and live: `format("rdf")` with a `kafka://` address as its path.

Offsets are Kafka's own, by partition, and stand in Spark's checkpoint. Messages are decoded, and packed where a query wants it,
in the task that reads them: only blobs of solutions leave it. Long spans of a partition are read by several tasks.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from scepter.errors import OptionError
from scepter.kafka.address import Address
from scepter.kafka.client import NO_BROKER, Bounds, gone, recreated, starts
from scepter.kafka.messages import Span, shared
from scepter.kafka.topic import divided, held, skipped, spans_of, told_by
from scepter.rdf.batch import DeadLetter
from scepter.rdf.times import TimeProperties
from scepter.runtime.spark.letters import FolderLetters
from scepter.timeline import TimeKind

if TYPE_CHECKING:
    import pyarrow as pa

    from scepter.rdf.readers import Lift
    from scepter.runtime.spark.source import Settings

_LOG: Final = logging.getLogger(__name__)
_PAUSE: Final = 1.0
"""Seconds between two questions to a broker that is away."""
Offset: TypeAlias = dict[str, int]
"""The next offset of each partition; the partition as a text, since Spark keeps it as JSON."""


class SpanPartition(InputPartition):
    """A span for one task, and the format of its messages."""

    def __init__(self, span: Span, format: str) -> None:
        super().__init__((span, format))


class Messages:
    """Reads spans into Arrow rows: the part of both readers that runs in tasks."""

    def __init__(self, address: Address, settings: Settings, schema: StructType | None, kind: TimeKind) -> None:
        """`schema`: of its rows, where those are read."""
        self.address = address
        self.settings = settings
        self.table = schema
        self.kind = kind
        self.letters = None if settings.dead_letters is None else FolderLetters(settings.dead_letters)
        self.format = address.format

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of a span, or what is wanted of them."""
        span, format = partition.value
        unused: Counter[str] = Counter()

        def take(letter: DeadLetter) -> None:
            unused[letter.reason] += 1
            self.tell(letter)

        from scepter.runtime.spark.message_tasks import rows_of  # loads the engine, which only tasks need

        yield from rows_of(self, span, format, take)
        for reason, count in unused.most_common():
            _LOG.warning("%s: %d not used: %s", self.address.name, count, reason)

    def times(self) -> TimeProperties:
        """What gives an event its time."""
        packing, times = self.settings.packing, self.settings.times
        return times if packing is None or times.inside else packing.job.options.times

    def lift(self) -> Lift | None:
        """What makes events of messages."""
        packing = self.settings.packing
        return self.settings.lift or (None if packing is None else packing.job.lifts.get(packing.stream))

    def tell(self, letter: DeadLetter) -> None:
        """Put a dead letter where those of the run are."""
        if self.letters is not None:
            self.letters(letter)

    def planned(self, spans: Sequence[Span], now: Mapping[int, Bounds]) -> list[InputPartition]:
        """Tasks for spans, in which there is something to read."""
        return [SpanPartition(*piece) for piece in self.pieces(spans, now)]

    def pieces(self, spans: Sequence[Span], now: Mapping[int, Bounds]) -> list[tuple[Span, str]]:
        """Spans for tasks, and the format of their messages."""
        if not spans:
            return []
        if not self.format:
            told = told_by(self.address, now, self.times(), self.lift())
            if told is None:
                return []
            self.format = told.format
        return [(piece, self.format) for piece in divided(spans, self.settings.partitions)]


class KafkaReader(Messages, DataSourceReader):
    """What a topic holds when the query is planned."""

    def partitions(self) -> Sequence[InputPartition]:
        """A span per task."""
        return self.planned(spans_of(self.address), held(self.address))


class KafkaStreamReader(Messages, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Messages as they come."""

    def __init__(self, address: Address, settings: Settings, schema: StructType, kind: TimeKind) -> None:
        super().__init__(address, settings, schema, kind)
        self.target: Offset | None = None
        self._away: float | None = None
        """Since when no broker has answered."""

    def initialOffset(self) -> Offset:
        """Where a first run begins."""
        now = held(self.address)
        if (begin := self.settings.begin) is not None:
            return _offset({number: begin.get(str(number), each.low) for number, each in now.items()})
        return _offset(starts(self.address, now))

    def getDefaultReadLimit(self) -> ReadLimit:
        """What the options allow a micro-batch."""
        events = self.settings.limits.events
        return ReadAllAvailable() if events is None else ReadMaxRows(events)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Behind the messages that are there, as far as the limit allows; `start` while no broker answers."""
        now = self._now()
        if now is None:
            return start
        begin = {number: start.get(str(number), each.low) for number, each in now.items()}
        for number, each in now.items():
            if each.high < begin[number]:
                raise recreated(self.address, number, begin[number], each.high, "start anew too, with another --checkpoint")
        high = {number: each.high if self.target is None else self.target.get(str(number), 0) for number, each in now.items()}
        waiting = {number: max(0, high[number] - max(begin[number], each.low)) for number, each in now.items()}
        taken = shared(limit.max_rows, waiting) if isinstance(limit, ReadMaxRows) else waiting
        return _offset(
            {
                number: max(begin[number], each.low) + taken[number] if taken[number] else begin[number]
                for number, each in now.items()
            }
        )

    def _now(self) -> dict[int, Bounds] | None:
        """What the topic holds, None while no broker answers; an error once that has lasted."""
        try:
            now = held(self.address)
        except OptionError as error:
            if error.code != NO_BROKER:
                raise
            if self._away is None:
                self._away = time.monotonic()
            if time.monotonic() - self._away > self.address.timeout:
                raise gone(self.address, self.address.timeout) from None
            _LOG.warning("%s does not answer: the run waits for it", self.address.name)
            return None
        self._away = None
        return now

    def _awaited(self) -> dict[int, Bounds]:
        """What the topic holds, as soon as a broker says it: a micro-batch that is planned cannot be left out."""
        while (now := self._now()) is None:
            time.sleep(_PAUSE)
        return now

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all there is."""
        self.target = _offset({number: each.high for number, each in held(self.address).items()})

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The spans between two offsets. Of messages that were deleted before they were read, a dead letter tells."""
        now = self._awaited()
        spans = []
        for name, stop in end.items():
            number = int(name)
            low = now[number].low if number in now else 0
            begin = start.get(name, low)
            if begin < min(low, stop):
                self.tell(skipped(self.address, number, begin, min(low, stop)))
            if max(begin, low) < stop:
                spans.append(Span(number, max(begin, low), stop))
        return self.planned(spans, now)


def _offset(of: Mapping[int, int]) -> Offset:
    return {str(number): offset for number, offset in sorted(of.items())}
