"""The progress of a long run, on stderr, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TimeRemainingColumn
from rich.text import Text

from scepter.compiled import are_kept
from scepter.runtime.compiling import told, told_once


class _Counts(ProgressColumn):
    """Triples read, triples per second, matches so far."""

    def render(self, task: Task) -> Text:
        triples, matches = task.fields["triples"], task.fields["matches"]
        rate = triples / task.elapsed if task.elapsed else 0.0
        return Text(f"{triples:,} triples  {rate:,.0f}/s  {matches:,} matches")


class _Bar(Progress):
    """A bar, or a word about kernels that are being compiled in its place: beside it, it would be cut off, and the bar of a
    small input says 100 % all the while."""

    compiling = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The lines to show now."""
        return [Text(self.compiling)] if self.compiling else super().get_renderables()


class RunProgress:
    """A bar with the share of the input done, the rate and the matches, and a word about kernels that are being compiled;
    where nobody would see it move, one line if the first run of an installation compiles them."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bar: _Bar | None = None
        self._told = ExitStack()

    def __enter__(self) -> RunProgress:
        if self._console.is_terminal:
            self._told.enter_context(told(self.compiling))
            columns = (BarColumn(), TaskProgressColumn(), _Counts(), TimeRemainingColumn())
            # stdout stays as it is: numba's colours remember it, and results do not come while there is a bar
            self._bar = _Bar(*columns, console=self._console, transient=True, redirect_stdout=False)
            self._task = self._bar.add_task("", total=None, triples=0, matches=0)
            self._bar.start()
        else:
            self._told.enter_context(told_once(first=not are_kept()))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.hide()

    def compiling(self, done: int, kernel: str) -> None:
        """A kernel is being compiled, the one behind `done` others; without a name: it is done."""
        if self._bar is not None:
            self._bar.compiling = f"compiling kernels, once: {done} done, now {kernel.lstrip('_')}" if kernel else ""
            if kernel:
                self._bar.refresh()

    def update(self, done: int, total: int | None, triples: int) -> None:
        """So much of the input is read (in any unit; `total` None: nobody knows)."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, triples=triples)

    def matched(self, matches: int) -> None:
        """So many matches were found."""
        if self._bar is not None:
            self._bar.update(self._task, matches=matches)

    def hide(self) -> None:
        """Take the bar away for good: results now go to the same terminal."""
        self._told.close()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def tell_counts(found: int, unused: int, dead_letter: Path | None, most: Sequence[tuple[str, int]] = ()) -> None:
    """How many matches there were, and how much input could not be used, with the reason that was given most often."""
    typer.echo("1 match" if found == 1 else f"{found} matches", err=True)
    if unused:
        what = "1 line or event could" if unused == 1 else f"{unused} lines or events could"
        where = f"see {dead_letter}" if dead_letter else "--dead-letter PATH shows which and why"
        typer.echo(f"{what} not be used: {where}", err=True)
        for reason, times in most:
            typer.echo(f"most often ({times} times): {reason}" if times > 1 else f"because: {reason}", err=True)
