"""The command line's Spark session, which starts while the command goes on: a JVM takes as long as the engine's imports."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

import typer

from scepter.cli.engine import input_bytes
from scepter.errors import ScepterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Session = Callable[[], SparkSession]
    """Gives the session once it is there."""

APP: Final = "scepter"
_BRIEF: Final = 64 << 20
"""Bytes of input: what takes Spark a few seconds."""


@contextmanager
def running(master: str | None, sources: Collection[str] | None = ()) -> Iterator[Session]:
    """A session for as long as the command runs, over `sources` to their end, or (None) without an end. What the JVM and the
    workers say on their own goes to a file, which is named when the run fails."""
    messages = Path(tempfile.mkstemp(prefix="scepter-spark-", suffix=".log")[1])
    started: Future[SparkSession] = Future()
    Thread(target=_start, args=(started, master, messages, brief(sources)), daemon=True).start()
    try:
        try:
            yield started.result
        finally:
            if started.done() and started.exception() is None:  # else the JVM ends with this process
                started.result().stop()
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, ScepterError):
            typer.echo(f"what Spark itself said is in {messages}", err=True)
            raise
        messages.unlink()
        raise
    messages.unlink()


def brief(sources: Collection[str] | None) -> bool:
    """Whether a run over all of the sources has little to do."""
    size = None if sources is None else input_bytes(sources)
    return size is not None and size < _BRIEF


def _start(started: Future[SparkSession], master: str | None, messages: Path, brief: bool) -> None:
    from scepter.runtime.spark.session import session, start_workers  # a local run starts without pyspark

    try:
        spark = session(master, APP, messages=messages, brief=brief)
    except BaseException as error:
        started.set_exception(error)
        return
    started.set_result(spark)
    with suppress(Exception):  # what is wrong with workers is told by the tasks that need them; the session may have ended
        start_workers(spark)
