"""`scepter.each_batch`: a live run in a program learns which of its keys are hot, as one of `scepter run --follow` does.

Tasks find out, and the driver tells those of later micro-batches (`live_skew`, `telling`). In a program the driver's part is
Spark's. The one place where it is the user's, and in the thread that begins the next micro-batch, is `foreachBatch`. What tasks
have found comes there through files in the folder of the checkpoint, which driver and workers share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from scepter.rdf.batch import DeadLetter
from scepter.runtime.notices import SKEW, Notices, received
from scepter.runtime.spark.environment import is_connect
from scepter.runtime.spark.letters import FolderLetters, drained
from scepter.runtime.spark.live_skew import SKEWED
from scepter.runtime.spark.telling import Record
from scepter.runtime.spark.warm_up import kept_folder

Write: TypeAlias = Callable[[DataFrame, int], None]
"""What `foreachBatch` takes: the rows of a micro-batch and its number."""
TOLD: Final = "scepter-told"


class SkewLetters:
    """Takes of what tasks have to say that which `each_batch` asks for. Without it there is none: nobody counts keys."""

    def __init__(self, folder: Path) -> None:
        self._letters = FolderLetters(folder / TOLD)

    def __call__(self, letter: DeadLetter) -> None:
        """Takes one letter."""
        if letter.source == SKEW:
            self._letters(letter)


def mark_of(folder: Path) -> str:
    """By what a run is told from others that the same thread has started."""
    return f".{hashlib.blake2b(str(folder.resolve()).encode(), digest_size=8).hexdigest()}"


def each_batch(write: Write, spark: SparkSession, checkpoint: str | Path) -> Write:
    """`write`, and then the tasks of the next micro-batch are told what was found out."""
    if is_connect(spark):  # its driver is elsewhere, and tells nothing
        return write
    folder = kept_folder(checkpoint)
    letters = folder / TOLD
    letters.mkdir(exist_ok=True)
    for left in letters.glob("*.jsonl"):  # of a micro-batch that is done again
        left.unlink()
    record = Record(SKEWED, folder, mark_of(folder))
    record.tell(spark.sparkContext)

    def taken(batch: DataFrame, number: int) -> None:
        write(batch, number)
        with drained(letters) as found:
            for _ in received(found, Notices(), lambda subject, text: record.take(number, text)):
                pass
        record.tell(batch.sparkSession.sparkContext)  # in the thread of the JVM that begins the next micro-batch

    return taken
