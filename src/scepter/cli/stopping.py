"""Runs that go on until they are told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer


def say(text: str) -> None:
    """A line for the person, on stderr."""
    typer.echo(text, err=True)


@contextmanager
def stopping(told: str) -> Iterator[threading.Event]:
    """Set once SIGTERM or SIGINT comes, which is told; a second one ends the run at once."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        say(told)
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
