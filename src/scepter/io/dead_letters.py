"""Where lines and events go that could not be used: counted always, written as JSON lines when there is a path."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import TextIO

from scepter.errors import option_error
from scepter.kept import open_named
from scepter.rdf.batch import DeadLetter


class DeadLetterSink:
    """Takes dead letters, from one thread.

    >>> with DeadLetterSink() as sink:
    ...     sink(DeadLetter("a.nq", 3, "an event without a time"))
    >>> sink.count
    1
    """

    def __init__(self, path: str | Path | None = None, *, append: bool = False) -> None:
        self.count = 0
        """How many letters came."""
        self.reasons: Counter[str] = Counter()
        """How many for each reason."""
        self._path = None if path is None else Path(path)
        self._append = append
        self._out: TextIO | None = None

    def __enter__(self) -> DeadLetterSink:
        if self._path is not None:
            try:
                self._out = open_named(self._path, "a" if self._append else "w", newline="\n")
            except OSError as error:
                raise option_error(
                    "dead-letter",
                    f"{self._path} cannot be written: {error.strerror}",
                    help="name a file in a folder that exists",
                ) from None
        return self

    def __call__(self, letter: DeadLetter) -> None:
        """Takes one letter."""
        self.count += letter.count
        self.reasons[letter.reason] += letter.count
        if self._out is not None:
            self._out.write(json.dumps(letter.fields(), ensure_ascii=False) + "\n")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._out is not None:
            self._out.close()
            self._out = None
