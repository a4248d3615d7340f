"""The Spark that people have: which version it is, whether its workers can do Scepter's work, and what a session of Spark
Connect, which has no context in this process, is asked in another way.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from scepter.errors import OptionError, option_error

OLDEST: Final = (4, 2)
NEWEST: Final = (4, 3)


def check_version(version: str) -> None:
    """Refuse a version of Spark that lacks what live runs and their restarts need, or that nobody has tried.

    >>> check_version("4.2.1")
    >>> check_version("4.1.4")
    Traceback (most recent call last):
    ...
    scepter.errors.OptionError: error[spark-version]: this is Spark 4.1.4, and Scepter runs on Spark 4.2 and 4.3
    note: sources written in Python have no admission control before 4.2, so that restarts would not be exact
    help: pip install 'pyspark>=4.2,<4.4', and the same version on the cluster
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or not OLDEST <= (int(found[1]), int(found[2])) <= NEWEST:
        older = found is not None and (int(found[1]), int(found[2])) < OLDEST
        why = "sources written in Python have no admission control before 4.2, so that restarts would not be exact"
        raise option_error(
            "spark-version",
            f"this is Spark {version}, and Scepter runs on Spark 4.2 and 4.3",
            notes=(why,) if older else (),
            help="pip install 'pyspark>=4.2,<4.4', and the same version on the cluster",
        )


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_CONNECT: Final = "pyspark.sql.connect."
_LOCAL: Final = re.compile(r"local(\[.*\])?")
PROVIDER: Final = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHECKED: set[str] = set()
"""Sessions whose workers are known to be able."""


class Shared(Protocol[T_co]):
    """A value that every task can see: a broadcast of Spark's, or the value itself in each task's closure."""

    @property
    def value(self) -> T_co:
        """It."""
        ...


@dataclass(frozen=True, slots=True)
class Enclosed(Generic[T]):
    """A value that travels with the function that uses it."""

    value: T


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect: its driver is elsewhere."""
    return type(spark).__module__.startswith(_CONNECT)


def shared(spark: SparkSession, value: T) -> Shared[T]:
    """The value for every task, sent once to each machine where the session can."""
    return Enclosed(value) if is_connect(spark) else spark.sparkContext.broadcast(value)


def cores(spark: SparkSession) -> int:
    """How many tasks the session runs at a time, as far as it tells."""
    if not is_connect(spark):
        return spark.sparkContext.defaultParallelism
    told = spark.conf.get("spark.default.parallelism", None) or spark.conf.get("spark.sql.shuffle.partitions", None)
    return int(told) if told else 8


def give_file(spark: SparkSession, path: str) -> None:
    """Have Spark bring a file to the machines that are not this one."""
    if is_connect(spark):
        spark.addArtifacts(path, file=True)
    elif not _is_local(spark):
        spark.sparkContext.addFile(path)


def prepare(spark: SparkSession) -> None:
    """Refuse a version that cannot do it; have local workers run this Python; make sure that others can import Scepter."""
    check_version(spark.version)
    if not is_connect(spark) and _is_local(spark):
        context = spark.sparkContext
        # Spark takes `python3` of the path, which in a notebook whose environment is not activated is another one
        if context.pythonExec != sys.executable and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable
        if context.pythonExec == sys.executable:
            return
    name = str(getattr(spark, "session_id", "")) if is_connect(spark) else spark.sparkContext.applicationId
    if name not in _CHECKED:
        _check_workers(spark)
        _CHECKED.add(name)


def check_live(spark: SparkSession) -> None:
    """Refuse a session whose state store cannot hold what stateful operators in Python keep: Spark says so only later, and at
    length."""
    if "RocksDB" not in str(spark.conf.get(PROVIDER, "")):
        raise option_error(
            "state-store",
            "live runs keep their state in RocksDB, and this session has another state store",
            help=f'spark.conf.set("{PROVIDER}", "{ROCKSDB}")',
        )


def _is_local(spark: SparkSession) -> bool:
    return _LOCAL.fullmatch(spark.sparkContext.master or "") is not None


def _check_workers(spark: SparkSession) -> None:
    """One small task: which Python is it, and can it import Scepter?"""

    def look(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # sent as it stands: a worker without Scepter runs it
        import sys

        import pyarrow

        for _ in rows:
            pass
        try:
            import scepter

            fault = None if hasattr(scepter, "run") else "its scepter has no run"
        except Exception as error:
            fault = str(error)
        yield pyarrow.RecordBatch.from_pydict({"python": [sys.executable], "fault": pyarrow.array([fault], "string")})

    try:
        found: Any = spark.range(0, 1, 1, 1).mapInArrow(look, "python string, fault string").first()
    except (PySparkException, Py4JJavaError) as error:  # Python of another version, without pyarrow or pyspark: Spark tells
        lines = [line.strip() for line in str(error).splitlines()]
        words = ("ModuleNotFoundError", "MISMATCH", "Error")
        told = next((line for word in words for line in lines if word in line), str(error))
        raise _unable("Spark's Python workers cannot run the tasks of this process", told[:300]) from None
    if found is not None and found["fault"] is not None:
        raise _unable(f"Spark's Python workers run {found['python']}, which cannot import scepter", found["fault"])


def _unable(message: str, why: str) -> OptionError:
    here = Path(sys.executable)
    return option_error(
        "spark-workers",
        message,
        notes=(why,),
        help=f"set PYSPARK_PYTHON={here} before the session starts; on a cluster install scepter in the workers' environment",
    )
