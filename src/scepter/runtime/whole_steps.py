"""Steps of an engine that are done whole, or not gone on from."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from scepter.errors import DataError, Diagnostic, ScepterError
from scepter.kernel.interrupts import bounded_rows


class WholeSteps:
    """Tells whether every step so far was done whole. One that is broken off, by Ctrl-C or at a limit, leaves what operators
    keep half changed: answers that go on from there would be wrong without a word.

    A step is a `with` block, refused where one before was broken off. An error of Scepter's own before `changes` was called has
    changed nothing. It is one object, since a context of its own for each push costs what a scan does.
    """

    def __init__(self, rows: int | None) -> None:
        """`rows`: how many an operator may make at one instant."""
        self._bounded = None if rows is None else lambda: bounded_rows(rows)
        self._within = bounded_rows(None)
        self._whole, self._changing = True, False

    def changes(self) -> None:
        """From here on the step changes what operators keep."""
        self._changing = True

    def __enter__(self) -> Self:
        if not self._whole:
            raise DataError(
                Diagnostic(
                    "broken-off",
                    "a step of this engine was broken off, and what it kept of the events before is not whole",
                    help="make a new Engine, and push the events again that its windows still need",
                )
            )
        self._whole = self._changing = False
        if self._bounded is not None:
            self._within = self._bounded()
            self._within.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bounded is not None:
            self._within.__exit__(kind, error, trace)
        self._whole = kind is None or (not self._changing and issubclass(kind, ScepterError))
