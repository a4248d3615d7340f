"""What the driver of a followed run keeps from micro-batch to micro-batch, and tells the tasks of later ones.

It travels as a property of their jobs. A micro-batch that is done again after a crash is told what was known before it, not
what it made known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pyspark import SparkContext, TaskContext

from scepter.kept import BatchRecord

_BATCH: Final = "streaming.sql.batchId"
_HERE: Final[ContextVar[Mapping[str, str]]] = ContextVar("told where there is no task", default=MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Subject:
    """What is told: by which source letters bring it to the driver, in which file it is kept, what is lost without it."""

    name: str
    file: str
    lost: str

    def before(self, run: str = "") -> str | None:
        """What was known before the micro-batch of this task, "" where nothing was; None where no driver tells. `run` tells it
        from others whose drivers are one."""
        context = TaskContext.get()
        if context is None:
            return _HERE.get().get(self.name)
        told = context.getLocalProperty(self.named(run))
        if told is None:
            return None
        batch = int(context.getLocalProperty(_BATCH) or 0)
        return next((text for number, text in reversed(json.loads(told)) if number < batch), "")

    def named(self, run: str) -> str:
        """The property of a run's jobs that tells it."""
        return f"scepter.{self.name}{run}"

    @contextmanager
    def told(self, text: str) -> Iterator[None]:
        """Tell it to what runs in this process, without tasks."""
        token = _HERE.set({**_HERE.get(), self.name: text})
        try:
            yield
        finally:
            _HERE.reset(token)


class Record:
    """What the driver knows of a subject; with a folder, it is kept there from run to run."""

    def __init__(self, subject: Subject, folder: Path | None = None, run: str = "") -> None:
        self.subject = subject
        self._property = subject.named(run)
        self._kept = BatchRecord(None if folder is None else folder / subject.file, subject.lost)

    def take(self, batch: int, text: str) -> None:
        """What is known behind a micro-batch."""
        self._kept.take(batch, text)

    def tell(self, context: SparkContext) -> None:
        """Tell the tasks of the micro-batches that this thread of the JVM begins."""
        context.setLocalProperty(self._property, self._kept.written())
