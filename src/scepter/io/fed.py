"""A reader that is fed: any reader of open files, given the bytes of a live source as they come.

Readers ask for bytes and wait. Here a reader waits in a thread of its own, and runs only while `feed` does: one of the two runs
at a time, so that nothing is shared between them.
"""

from __future__ import annotations

import io
import queue
import threading
from dataclasses import replace

from scepter.rdf.batch import EventBatch
from scepter.rdf.files import read_pipe
from scepter.rdf.readers import Lift, Reading


class Fed(io.RawIOBase):
    """Rows and documents through a mapping or a context: events as soon as what holds them is whole."""

    def __init__(self, reading: Reading, lift: Lift) -> None:
        # batches of one byte: whatever is complete is given at once
        self._reading = replace(reading, batch_bytes=1, lift=lift)
        self._given: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._rest, self._least = b"", 4  # by its first bytes a format is told
        self._found: list[EventBatch] = []
        self._failure: Exception | None = None
        self._ended = self._over = False
        threading.Thread(target=self._run, name=f"reads what {reading.source_name} gives", daemon=True).start()
        self._asked.get()

    def feed(self, chunk: bytes) -> list[EventBatch]:
        """The events that some bytes complete; none at all are the end."""
        if not self._over:
            self._given.put(chunk)
            self._asked.get()
        if self._failure is not None:
            raise self._failure
        found, self._found = self._found, []
        return found

    def finish(self) -> list[EventBatch]:
        """The end: what was cut off is refused as in a file."""
        return self.feed(b"")

    def _run(self) -> None:
        try:
            for batch in read_pipe(self, self._reading):
                self._found.append(batch)
        except Exception as error:  # raised where the reader was fed
            self._failure = error
        self._over = True
        self._asked.put(None)

    def readable(self) -> bool:
        """As a file that can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """What was fed; waits for it."""
        while len(self._rest) < self._least and not self._ended:
            self._asked.put(None)
            chunk = self._given.get()
            self._rest += chunk
            self._ended = not chunk
        self._least = 1
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
