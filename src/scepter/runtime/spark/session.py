"""The command line's Spark session: a JVM that is found or brought along, and the settings that measured well.

The library never calls this: whoever brings a SparkSession keeps its settings.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from scepter.runtime.spark.environment import PROVIDER, ROCKSDB
from scepter.runtime.spark.java import java_home

RETRIES: Final = 4
"""How often a local task may fail, as on a cluster; without it the first lost Python worker ends a local run."""

SETTINGS: Final[dict[str, str]] = {
    "spark.python.daemon.module": "scepter.runtime.spark.daemon",  # workers start with what tasks import
    "spark.sql.adaptive.enabled": "false",  # would merge small partitions, and a kernel's work is not seen in its bytes
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # else tasks of mapInArrow and of applyInArrow differ in their environment, and each kind has a process to be forked from
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.minBatchesToRetain": "10",
    PROVIDER: ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
}
"""For every master; what the caller gives rules."""

LOOPBACK: Final[dict[str, str]] = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
"""Where every part of a run is on this machine."""

LOCAL_SETTINGS: Final[dict[str, str]] = {
    **LOOPBACK,
    # a fifth of the time for what a micro-batch writes; the other one asks the shell for permissions of each file
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.python.unix.domain.socket.enabled": "true",
    # ids are as good as random, and what is shuffled never leaves this machine
    "spark.shuffle.compress": "false",
    "spark.ui.enabled": "false",
}
"""Where every part of a run is in one process and its workers."""

BRIEF_JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a JVM that plans, and hands packed bytes from worker to worker: to compile it to the utmost takes half of a short run
(docs/benchmarks/start-up.md)."""
LASTING_JVM: Final = (
    "-XX:+UseSerialGC", "-XX:Tier4InvocationThreshold=50000", "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000", "-XX:Tier4BackEdgeThreshold=400000",
)  # fmt: skip
"""To the utmost only what is called ten times as often as usual: the few methods that turn results into rows, which then take
half the time."""

PARTITIONS: Final = "spark.sql.shuffle.partitions"
_LOCAL: Final = re.compile(r"local(?:\[(?P<cores>\*|\d+)(?:,\s*(?P<retries>\d+))?\])?")
_LOOPBACK: Final = re.compile(r"spark://(?:127\.0\.0\.1|localhost)(?::|,|$)")
_LOGGING: Final = Path(__file__).with_name("data") / "log4j2.properties"


def session(
    master: str | None = None,
    app: str = "scepter",
    conf: Mapping[str, str] = MappingProxyType({}),
    *,
    messages: Path | None = None,
    brief: bool = False,
) -> SparkSession:
    """A Spark session on `master`, by default every core of this machine, or the master that spark-submit chose.

    `conf` are Spark settings by their names, which rule over those of this module. What the JVM and the workers say on their
    own goes to the file `messages`, if given. `brief` is for a session that will have little to do. Raises OptionError without
    a JVM.
    """
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.app.name": app, **SETTINGS}
    if not submitted:
        os.environ["JAVA_HOME"] = str(java_home())
        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))  # its scripts would start Python to find it
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", " ".join(BRIEF_JVM))
        master = with_retries(master or "local[*]")
        settings |= machine_settings(master)
        options = BRIEF_JVM if brief else LASTING_JVM
        settings["spark.driver.extraJavaOptions"] = " ".join((*options, f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"))
    if master is not None:
        settings["spark.master"] = master
    chosen = SparkConf().setAll(list((settings | dict(conf)).items()))
    if messages is not None and not submitted and SparkContext._gateway is None:
        with messages.open("ab") as file:
            # A signal to the process group (systemd, timeout, Ctrl-C) is for the driver, which then ends the JVM and its
            # workers in order. Should the driver be killed, the JVM sees its standard input close, and ends.
            gateway = launch_gateway(chosen, {"stdout": file, "stderr": file, "start_new_session": True})  # type: ignore[no-untyped-call]
            SparkContext._ensure_initialized(gateway=gateway)
    spark = SparkSession.builder.config(conf=chosen).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.conf.set(PARTITIONS, partitions(dict(spark.sparkContext.getConf().getAll()), spark.sparkContext.defaultParallelism))
    return spark


def partitions(told: Mapping[str, str], cores: int) -> str:
    """How many partitions a shuffle has: as many as `told` says: what spark-submit or its defaults were given. Else one task
    for each core: the kernel's work is in the tasks, and every partition more costs a micro-batch time.

    >>> partitions({"spark.app.name": "scepter"}, 8), partitions({PARTITIONS: "3"}, 8)
    ('8', '3')
    """
    return told.get(PARTITIONS, str(cores))


def start_workers(spark: SparkSession) -> None:
    """Have the process started that Python workers are forked from, and wait for it; tasks of other jobs go on meanwhile."""
    spark.sparkContext.parallelize([0], 1).foreachPartition(_nothing)


def _nothing(numbers: Iterable[int]) -> None:
    """The task of a worker that is to be there, no more."""


def with_retries(master: str) -> str:
    """A local master that retries failed tasks, as clusters do; any other master as it is.

    >>> with_retries("local[2]"), with_retries("local"), with_retries("local[2,1]"), with_retries("yarn")
    ('local[2,4]', 'local[1,4]', 'local[2,1]', 'yarn')
    """
    found = _LOCAL.fullmatch(master)
    if found is None or found["retries"] is not None:
        return master
    return f"local[{found['cores'] or 1},{RETRIES}]"


def machine_settings(master: str) -> dict[str, str]:
    """The settings of a master whose parts talk over the loopback interface; none for a real cluster."""
    if _LOCAL.fullmatch(master) is None:
        return dict(LOOPBACK) if _LOOPBACK.match(master) else {}
    folder = Path(tempfile.gettempdir()) / "scepter-warehouse"
    return {
        **LOCAL_SETTINGS,
        "spark.sql.warehouse.dir": str(folder),
    }
