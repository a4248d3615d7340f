"""`scepter bench`: the papers' experiments, measured here."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from scepter.bench import plots, tables
from scepter.bench.harness import ENGINES, Choice, measurements, rooms
from scepter.bench.model import Measurement, Results, Verdict, Workload
from scepter.bench.record import record
from scepter.bench.workloads import selected
from scepter.cli.options import one_of
from scepter.errors import DataError
from scepter.io.replacing import replacing

_LEAST_WIDTH: Final = 120
"""Columns that the tables need."""


def bench(
    workloads: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORKLOAD]…",
            help="Names, or what they begin with (default: all). Example: scepter bench spaseq-v-shape ep-sparql",
            show_default=False,
        ),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Show the workloads and stop. Example: --list")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: does it work? Figures then say little. Example: --quick")
    ] = False,
    engine: Annotated[str, typer.Option(help="Scepter's engines: local, spark or both. Example: --engine both")] = "local",
    repeat: Annotated[int, typer.Option(metavar="N", help="Runs of each point; the median counts. Example: --repeat 5")] = 3,
    alone: Annotated[bool, typer.Option("--alone", help="Without the yardsticks, other systems. Example: --alone")] = False,
    results: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write what was measured. Example: --json results.json")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Draw it, as PNG and SVG. Example: --plots docs/benchmarks")
    ] = None,
) -> None:
    """Run workloads after the papers' experiments; the exit code is 1 when an answer is wrong."""
    one_of("--engine", engine, ENGINES)
    chosen, choice = selected(workloads or ()), Choice(engine, repeat, yardsticks=not alone)
    console = Console(width=max(Console().width, _LEAST_WIDTH))
    if list_them:
        for workload in chosen:
            typer.echo(f"{workload.name:24} over {workload.axis}. {workload.follows}")
        return
    report = _Report(console, pictures)
    with _ending_in_order(), tempfile.TemporaryDirectory(prefix="scepter-bench-") as folder:
        for workload, room in rooms(Path(folder), chosen, quick):
            report.take(workload, measurements(workload, room, choice, report.left_out.__setitem__))
    report.close()
    if results is not None:
        with replacing(results) as out:
            out.write(json.dumps(record(report.found, report.verdicts, quick=quick, repeats=repeat), indent=1) + "\n")
    if report.failed:
        raise typer.Exit(1)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """SIGTERM ends the measurement that is running, which is a process of its own, and its files too."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Report:
    """Tells what is measured as it comes. A workload that fails is told, and the others go on."""

    def __init__(self, console: Console, pictures: Path | None) -> None:
        self._console, self._pictures = console, pictures
        self.found: list[Measurement] = []
        self.verdicts: list[Verdict] = []
        self.left_out: dict[str, str] = {}
        self.failed = False

    def take(self, workload: Workload, measurements: Iterator[Measurement]) -> None:
        found: list[Measurement] = []
        try:
            for measurement in measurements:
                found.append(measurement)
                typer.echo(f"{workload.name} {tables.place(measurement)} {measurement.contender}", err=True)
        except DataError as error:
            self.failed = True
            typer.echo(str(error), err=True)
        self.found += found
        self.verdicts += workload.verdicts(Results(found))
        self._console.print(tables.measured(workload, found))
        for line in tables.extras(found):
            self._console.print(line)
        if self._pictures is not None:
            plots.plot(workload, found, self._pictures)

    def close(self) -> None:
        for name, reason in self.left_out.items():
            typer.echo(f"left out: {name}, {reason}", err=True)
        if self.verdicts:
            self._console.print(tables.judged(self.verdicts))
