"""`spark.read.format("rdf")` and `spark.readStream.format("rdf")`: stream files and topics as tables of events (spec/00 §2).

Options besides `path` (a file, folder or glob, `load` also takes a list; or one `kafka://…` address):

stream               what the column `stream` holds (default: the path)
timestamps           integer | dateTime (default: what the first event has)
format               nq | nt | trig | jsonld | timeline | parquet, for files whose name and content do not tell
timeProperty         IRIs or vocabularies (sosa, saref, …), separated by blanks: what gives an event its time
names                true: a column `name` with the IRI of each event's graph
partitions           about how many tasks read a bounded input (default: twice the driver's cores)
maxFilesPerTrigger   how many files a micro-batch takes at most
maxEventsPerTrigger  how many events; files other than plain N-Quads are taken whole, and of a topic it is messages
maxFileAge           how far a file may be behind the newest one done, such as 12h (default 7d)
map                  how rows and documents become events: a mapping in YARRRML or RML, its file or its text
limits               limits of one input, such as depth=50,literal=1MB (docs/reference/formats.md)
deadLetterPath       a folder, shared by driver and workers, for what could not be used; else it is counted in the workers' logs

Spark plans in processes of their own, several for each query, and waits ten seconds for each: importing this module loads
neither the readers nor the engine. What runs in tasks stands in `source_tasks`.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from scepter.errors import nearest, option_error
from scepter.kafka.address import Address, is_kafka, parse_address
from scepter.rdf.batch import DeadLetter
from scepter.rdf.extensions import EXTENSIONS
from scepter.rdf.files import CHANGED, stream_files
from scepter.rdf.limits import DEFAULT, ReadLimits
from scepter.rdf.times import PROV_TIMES, TimeProperties
from scepter.runtime.spark.environment import prepare
from scepter.runtime.spark.event_rows import event_schema
from scepter.runtime.spark.folder import NOTHING, Folder, Found, Limits, Offset, list_files
from scepter.runtime.spark.letters import FolderLetters
from scepter.runtime.spark.pushdown import BEGIN, PACKED, PACKING, Packing
from scepter.runtime.spark.pushdown import FORMAT as NAME
from scepter.runtime.spark.ranges import AT_LEAST, Range, plan_ranges
from scepter.timeline import TimeKind, parse_duration

if TYPE_CHECKING:
    import pyarrow as pa

    from scepter.rdf.readers import Lift

OPTIONS: Final = (
    "path", "paths", "stream", "timestamps", "timeProperty", "format", "names", "partitions",
    "maxFilesPerTrigger", "maxEventsPerTrigger", "maxFileAge", "deadLetterPath", "limits", "map", "context",
)  # fmt: skip
MOST: Final = 64 << 20
"""No task reads more bytes of a file that can be cut."""
_KINDS: Final = {"integer": TimeKind.INTEGER, "datetime": TimeKind.DATETIME}
_LOG: Final = logging.getLogger(__name__)


def register(spark: SparkSession) -> None:
    """Makes the format known to a session; OptionError if its workers cannot do it."""
    prepare(spark)  # with a format Spark keeps which Python reads it
    spark.dataSource.register(EventSource)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a source, checked."""

    sources: tuple[str, ...]
    stream: str
    kind: TimeKind | None
    format: str
    names: bool
    partitions: int
    limits: Limits
    max_age: int
    dead_letters: str | None
    times: TimeProperties = PROV_TIMES
    lift: Lift | None = None
    read_limits: ReadLimits = DEFAULT
    packing: Packing | None = None
    """What is wanted instead of rows of terms."""
    begin: Any = None
    """The offset at which a first run begins, if not at the beginning."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        """Options as a user writes them, in any case; raises OptionError."""
        given = {name.lower(): value for name, value in options.items()}
        packing, begin = given.pop(PACKING.lower(), None), given.pop(BEGIN.lower(), None)
        known = {name.lower(): name for name in OPTIONS}
        for name in given.keys() - known.keys():
            close = nearest(name, known)
            hint = f"did you mean {known[close]}?" if close else f"the options are {', '.join(OPTIONS)}"
            raise option_error("unknown-option", f"format rdf has no option {name}", help=hint)
        sources = _sources(given)
        limits = Limits(_count(given, "maxFilesPerTrigger"), _count(given, "maxEventsPerTrigger"))
        if limits.files is not None and limits.events is not None:
            raise option_error("bad-option", "maxFilesPerTrigger and maxEventsPerTrigger exclude each other")
        return cls(
            sources=sources,
            stream=given.get("stream", ",".join(sources)),
            kind=_choice(given, "timestamps", _KINDS, None),
            format=_choice(given, "format", {name.removeprefix("."): name for name in EXTENSIONS}, ""),
            names=_choice(given, "names", {"true": True, "false": False}, False),
            partitions=_count(given, "partitions") or 2 * (os.cpu_count() or 1),
            limits=limits,
            max_age=_age(given.get("maxfileage", "7d")),
            dead_letters=given.get("deadletterpath"),
            times=TimeProperties.of(given.get("timeproperty", "").split()),
            lift=_lift(given),
            read_limits=ReadLimits.read(given.get("limits", "")),
            packing=None if packing is None else Packing.read(packing),
            begin=None if begin is None else json.loads(begin),
        )

    @property
    def topic(self) -> Address | None:
        """The topic, if the source is one."""
        if not any(map(is_kafka, self.sources)):
            return None
        if len(self.sources) > 1:
            raise option_error("bad-option", "a topic is read alone", help="give each topic to a table of its own")
        return parse_address(self.sources[0])

    def decided_kind(self) -> TimeKind:
        """The kind of the times: the option, else that of the first event that is there now."""
        if self.kind is not None:
            return self.kind
        found = self._first_kind()
        if found is None:
            raise option_error(
                "no-events",
                f"{', '.join(self.sources)} holds no event yet that would tell the kind of its timestamps",
                help="add option timestamps = integer or dateTime",
            )
        return found

    def _first_kind(self) -> TimeKind | None:
        if self.topic is None:
            from scepter.runtime.spark.range_reading import first_kind

            return first_kind([file.path for file in list_files(self.sources)], self.format, self.times, lift=self.lift)
        from scepter.kafka.topic import held, told_by

        told = told_by(self.topic, held(self.topic), self.times, self.lift)
        return None if told is None else told.kind


def _lift(given: Mapping[str, str]) -> Lift | None:
    if "map" in given and "context" in given:
        raise option_error("bad-option", "map and context exclude each other")
    if "context" in given:
        from scepter.lift.context import load_context

        return load_context(given["context"])
    if "map" not in given:
        return None
    from scepter.lift.load import load_mapping
    from scepter.lift.reader import MappedReaders

    return MappedReaders(load_mapping(given["map"]))


def _sources(given: Mapping[str, str]) -> tuple[str, ...]:
    found: list[str] = [given["path"]] if "path" in given else []
    if "paths" in given:
        found += json.loads(given["paths"])
    if not found:
        raise option_error("missing-source", "format rdf needs a path", help='write spark.read.format("rdf").load("power.nq")')
    return tuple(source.removeprefix("file://") for source in found)


def _choice(given: Mapping[str, str], name: str, allowed: Mapping[str, Any], default: Any) -> Any:
    text = given.get(name.lower())
    if text is None:
        return default
    if text.lower() not in allowed:
        close = nearest(text.lower(), allowed)
        hint = f"did you mean {close}?" if close else f"one of {', '.join(allowed)}"
        raise option_error("bad-option", f"option {name} cannot be {text!r}", help=hint)
    return allowed[text.lower()]


def _count(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise option_error("bad-option", f"option {name} is a whole number above 0, not {text!r}")
    return int(text)


def _age(text: str) -> int:
    try:
        return parse_duration(text).ticks(TimeKind.DATETIME, "s")
    except ValueError as error:
        raise option_error("bad-option", f"option maxFileAge: {error}", help="write for example 12h or 7d") from None


class EventSource(DataSource):
    """The format `rdf`."""

    @classmethod
    def name(cls) -> str:
        """What stands in `format(…)`."""
        return NAME

    def schema(self) -> StructType | str:
        """The columns of spec/00 §2, with the type that the times have; or those of packed solutions."""
        settings = Settings.of(self.options)
        if settings.packing is not None:
            return PACKED
        return event_schema(settings.decided_kind(), names=settings.names)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Of what is there."""
        settings = Settings.of(self.options)
        if settings.topic is not None:
            from scepter.runtime.spark.kafka import KafkaReader

            return KafkaReader(settings.topic, settings, schema, _kind_of(settings, schema))
        return EventReader(settings, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Of what is there and what comes."""
        settings = Settings.of(self.options)
        if settings.topic is not None:
            from scepter.runtime.spark.kafka import KafkaStreamReader

            return KafkaStreamReader(settings.topic, settings, schema, _kind_of(settings, schema))
        return EventStreamReader(settings, schema)


class RangePartition(InputPartition):
    """A range for one task."""

    def __init__(self, part: Range) -> None:
        super().__init__(part)


class UnreadPartition(InputPartition):
    """A file that is not read, or not to its end, and why: a task tells so."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__((path, why))


_UNREAD: Final = {"old": "the file is older than the newest one done by more than maxFileAge, and not read", "changed": CHANGED}
"""Why, by what an offset calls such files."""


class _Rows:
    """Reads ranges into Arrow rows: the part of both readers that runs in tasks."""

    live = False
    """Whether a file that cannot be read is a dead letter, and not the end of the run."""

    def __init__(self, settings: Settings, schema: StructType) -> None:
        self.settings = settings
        self.kind = _kind_of(settings, schema)
        self.table = schema
        self.letters = None if settings.dead_letters is None else FolderLetters(settings.dead_letters)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of a range, or what is wanted of them."""
        unused: Counter[str] = Counter()

        def take(letter: DeadLetter) -> None:
            unused[letter.reason] += letter.count
            if self.letters is not None:
                self.letters(letter)

        if isinstance(partition, UnreadPartition):
            path, why = partition.value
            take(DeadLetter(path, None, why))
        else:
            path = partition.value.path
            from scepter.runtime.spark.source_tasks import rows_of  # loads the engine, which only tasks need

            yield from rows_of(self.settings, self.kind, self.table, partition.value, take, live=self.live)
        for reason, count in unused.most_common():
            _LOG.warning("%s: %d not used: %s", path, count, reason)


def _kind_of(settings: Settings, schema: StructType) -> TimeKind:
    if settings.packing is not None:
        return settings.packing.kind
    kind = TimeKind.INTEGER if schema["start"].dataType.typeName() == "long" else TimeKind.DATETIME
    if schema != event_schema(kind, names=settings.names):
        raise option_error(
            "schema",
            f"format rdf gives {event_schema(kind, names=settings.names).simpleString()}, not {schema.simpleString()}",
            help="leave out schema(…), and say option timestamps instead",
        )
    return kind


class EventReader(_Rows, DataSourceReader):
    """Bounded input in ranges."""

    def partitions(self) -> Sequence[InputPartition]:
        """A range per task."""
        files = [path for source in self.settings.sources for path in stream_files(source)]
        size = sum(path.stat().st_size for path in files)
        parts = max(self.settings.partitions, -(-size // MOST))
        return [RangePartition(part) for part in plan_ranges(files, parts=parts, format=self.settings.format)]


class EventStreamReader(_Rows, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Files as they appear in a folder."""

    live = True

    def __init__(self, settings: Settings, schema: StructType) -> None:
        super().__init__(settings, schema)
        self.folder = Folder(settings.max_age, self.kind, settings.format, settings.times, settings.lift)
        self.target: list[Found] | None = None

    def initialOffset(self) -> Offset:
        """Nothing is read yet, or is to be left out."""
        return NOTHING if self.settings.begin is None else dict(self.settings.begin)

    def getDefaultReadLimit(self) -> ReadLimit:
        """What the options allow a micro-batch."""
        limits = self.settings.limits
        if limits.files is not None:
            return ReadMaxFiles(limits.files)
        return ReadAllAvailable() if limits.events is None else ReadMaxRows(limits.events)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Behind the files that are there, as far as the limit allows."""
        files = list_files(self.settings.sources, begun=start != NOTHING) if self.target is None else self.target
        return self.folder.advance(start, files, _limits(limit))

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all there is."""
        self.target = list_files(self.settings.sources)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The ranges between two offsets."""
        size = sum(part.stop - part.start for part in self.folder.ranges(start, end, MOST))
        share = min(MOST, max(AT_LEAST, -(-size // self.settings.partitions)))
        unread = [
            UnreadPartition(path, why)
            for name, why in _UNREAD.items()
            for path in end.get(name, ())
            if path not in start.get(name, ())
        ]
        return [*(RangePartition(part) for part in self.folder.ranges(start, end, share)), *unread]


def _limits(limit: ReadLimit) -> Limits:
    match limit:
        case ReadMaxFiles(files):
            return Limits(files=files)
        case ReadMaxRows(rows):
            return Limits(events=rows)
        case _:
            return Limits()
