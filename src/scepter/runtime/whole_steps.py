"""Steps of an engine that are done whole, or not gone on from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from scepter.errors import DataError, Diagnostic, ScepterError
from scepter.kernel.interrupts import bounded_rows

_UNBOUNDED = nullcontext()


class WholeSteps:
    """Tells whether every step so far was done whole. One that is broken off, by Ctrl-C or at a limit, leaves what operators
    keep half changed: answers that go on from there would be wrong without a word."""

    def __init__(self, rows: int | None) -> None:
        """`rows`: how many an operator may make at one instant."""
        self._rows = rows
        self._whole = True

    @contextmanager
    def step(self, *, refusing: bool = False) -> Iterator[None]:
        """One step; refused where one before was broken off. `refusing`: an error of Scepter's own has changed nothing."""
        if not self._whole:
            raise DataError(
                Diagnostic(
                    "broken-off",
                    "a step of this engine was broken off, and what it kept of the events before is not whole",
                    help="make a new Engine, and push the events again that its windows still need",
                )
            )
        self._whole = False
        try:
            with _UNBOUNDED if self._rows is None else bounded_rows(self._rows):
                yield
        except ScepterError:
            self._whole = refusing
            raise
        self._whole = True
