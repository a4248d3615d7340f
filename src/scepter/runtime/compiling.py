"""Says that kernels are being compiled, which the first run of an installation does for some 12 seconds: numba tells when."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def told(tell: Callable[[int, str], None]) -> Iterator[None]:
    """While this holds, `tell` hears of each kernel that is compiled: how many are done, and its name; an empty name at the end
    of each. Kernels that come from numba's cache are not compiled, and not told. Those that a kernel calls count with it."""
    from numba.core import event  # only who runs a query has loaded it

    class Listener(event.Listener):
        def __init__(self) -> None:
            self.done = self.depth = 0

        def on_start(self, started: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                function = getattr(started.data["dispatcher"], "py_func", None)
                tell(self.done, getattr(function, "__name__", "a kernel"))

        def on_end(self, ended: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.done += 1
                tell(self.done, "")

    listener = Listener()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)  # type: ignore[no-untyped-call]


@contextmanager
def told_once(*, first: bool = False) -> Iterator[None]:
    """While this holds, a person at a prompt or in a notebook is told on stderr when the first kernel is compiled: the cell
    would seem to hang. In the `first` run of an installation the log of a command tells it too. Programs are told nothing."""
    if not (first or _is_interactive()):
        yield
        return

    def tell(done: int, kernel: str) -> None:
        if not _spoken:
            _spoken.append(kernel)
            sys.stderr.write("scepter compiles its kernels, once for this installation: some 12 seconds\n")

    with told(tell):
        yield


_spoken: list[str] = []
"""The kernel of which this process has told."""


def _is_interactive() -> bool:
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules
