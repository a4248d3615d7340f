"""A table that is `format("rdf")` and nothing else is read as the query needs it: only blobs of solutions leave the source.

Otherwise each term of each triple crosses to the JVM and back as text before a pattern looks at it. What stands between the
source and the query (a filter, a column more) is not looked through: such a table is taken as it is.
"""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame

from scepter.timeline import TimeKind

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job

FORMAT: Final = "rdf"
PACKING: Final = "packedFor"
"""The option that tells the source what to pack."""
LETTERS: Final = "deadLetterPath"
"""The option that tells the source where its dead letters go."""
PACKED: Final = "query int, bucket int, place int, time bigint, events bigint, blob binary"
"""The columns of packed solutions. Their place is a task's over history; live, it is the key of a group."""
BEGIN: Final = "beginAt"
"""The option that tells the source where a first run begins."""


@dataclass(frozen=True, slots=True)
class Packing:
    """A job and the number that it gives to the source's stream. The job stays packed until a task asks for it: it holds the
    plan, and to unpack that imports the engine, which planners would wait for and do not need."""

    packed: bytes
    stream: int
    kind: TimeKind
    """The job's."""

    @classmethod
    def of(cls, job: Job, stream: int) -> Packing:
        """Only the driver that made the job packs it."""
        return cls(zlib.compress(pickle.dumps(job)), stream, job.kind)

    @property
    def job(self) -> Job:
        """The job, which a process unpacks once."""
        return _unpacked(self.packed)

    def written(self) -> str:
        """As the value of an option."""
        return base64.b64encode(pickle.dumps(self)).decode()

    @classmethod
    def read(cls, text: str) -> Packing:
        """What `written` gave."""
        found: Packing = pickle.loads(base64.b64decode(text))
        return found


@lru_cache(maxsize=16)
def _unpacked(packed: bytes) -> Job:
    job: Job = pickle.loads(zlib.decompress(packed))
    return job


def source_options(frame: DataFrame) -> dict[str, str] | None:
    """The options of a table that is this format and nothing else; None of any other table."""
    java = getattr(frame, "_jdf", None)  # a table of Spark Connect has none
    if java is None:
        return None
    plan = java.queryExecution().logical()
    if _kind(plan) == "NamedStreamingRelation":
        plan = plan.child()
    if _kind(plan) != "UnresolvedDataSource" or plan.format() != FORMAT:
        return None
    plain = frame.sparkSession._jvm.scala.jdk.javaapi.CollectionConverters  # type: ignore[union-attr]
    options: dict[str, str] = dict(plain.asJava(plan.options()))
    if paths := list(plain.asJava(plan.paths())):
        options["paths"] = json.dumps(paths)
    return options


def packed_table(frame: DataFrame, job: Job, stream: int, begin: str | None = None) -> DataFrame | None:
    """The packed solutions of a table of this format, live ones from an offset on; None of any other table."""
    options = source_options(frame)
    if options is None:
        return None
    reading = frame.sparkSession.readStream if frame.isStreaming else frame.sparkSession.read
    packed = reading.format(FORMAT).options(**options).option(PACKING, Packing.of(job, stream).written())
    return (packed if begin is None else packed.option(BEGIN, begin)).load()


def unheard(frame: DataFrame) -> DataFrame:
    """A bounded table, without the letters that a reader of this format would write: it is read once more to be used."""
    options = source_options(frame)
    if options is None:
        return frame
    told = {name: value for name, value in options.items() if name.lower() != LETTERS.lower()}
    return frame.sparkSession.read.format(FORMAT).options(**told).load()


def _kind(plan: object) -> str:
    return str(plan.getClass().getSimpleName())  # type: ignore[attr-defined]
