"""What Spark is given as the stateful part of a live run.

At the start of a query Spark asks a process of its own, once per stateful operator, which state it declares. That process
unpickles the processor: so this module imports next to nothing, and the engine is loaded where there are rows to take.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from scepter.runtime.spark.bucket import Bucket
    from scepter.runtime.spark.jobs import Job


class BucketProcessor(StatefulProcessor):
    """One bucket of a share, or all that runs in one task; and, at places below zero, the times of all events."""

    def __init__(self, job: Job, schema: pa.Schema, depth: int = 0) -> None:
        """`depth`: how many stateful parts lie before this one."""
        # itself, not a broadcast of it: Spark does not hand broadcast variables to stateful processors
        # inside what Spark pickles anyway, so that unpickling this object loads nothing; state is never pickled (bucket_work)
        self._given = pickle.dumps((job, schema, depth))
        self._whole = job.whole is not None and not depth

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._kernel = handle.getValueState("kernel", "state binary")
        self._answered = handle.getValueState("answered", "answered boolean")
        self._log = handle.getListState("events", "watermark bigint, blob binary") if self._whole else None
        self._bucket: Bucket | None = None

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        """Take packed solutions, and release what the watermark has passed."""
        yield from self._loaded().given(int(key[0]), rows, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        """The watermark has moved: release what it has passed."""
        yield from self._loaded().wake(int(key[0]), timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Nothing to close."""

    def _loaded(self) -> Bucket:
        if self._bucket is None:
            job, schema, depth = pickle.loads(self._given)
            self._bucket = import_module("scepter.runtime.spark.bucket").Bucket(
                job, schema, self._handle, self._kernel, self._answered, self._log, depth
            )
        return self._bucket
