"""Measurements and goals as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from scepter.bench.model import Measurement, Verdict, Workload


def measured(workload: Workload, measurements: Sequence[Measurement]) -> Table:
    """The points of a workload."""
    table = Table(title=workload.name, caption=workload.follows, title_justify="left", caption_justify="left")
    table.add_column(workload.axis)
    table.add_column("by")
    for name in ("CPU s", "wall s", "events/CPU s", "triples/CPU s", "answers", "peak MB", "state rows"):
        table.add_column(name, justify="right")
    for m in measurements:
        table.add_row(
            place(m), m.contender, f"{m.cpu:.2f}", f"{m.wall:.2f}", number(m.events_per_cpu_second),
            number(m.triples_per_cpu_second), f"{m.answers:,}",
            f"{m.peak / 1e6:.0f}", "" if m.state is None else f"{m.state:,}",
        )  # fmt: skip
    return table


def extras(measurements: Sequence[Measurement]) -> list[str]:
    """What contenders tell besides, a line for each."""
    return [
        f"{place(m)} {m.contender}: {'; '.join(f'{name} {value:,.3g}' for name, value in m.extra.items())}"
        for m in measurements
        if m.extra
    ]


def judged(verdicts: Sequence[Verdict]) -> Table:
    """Goals, and whether they are met."""
    table = Table(title="goals", title_justify="left")
    for name in ("", "workload", "what"):
        table.add_column(name)
    for name in ("measured", "goal"):
        table.add_column(name, justify="right")
    for v in verdicts:
        word = {True: "[green]met[/]", False: "[red]MISSED[/]", None: "[dim]not measured[/]"}[v.met]
        table.add_row(word, v.workload, v.what, "" if v.value is None else number(v.value), bound(v))
    return table


def place(measurement: Measurement) -> str:
    """Where on the axis."""
    return measurement.at if isinstance(measurement.at, str) else f"{measurement.at:,g}"


def bound(verdict: Verdict) -> str:
    """What a goal asks for."""
    return f"≥ {number(verdict.least)}" if verdict.least is not None else f"≤ {number(verdict.most or 0)}"


def number(value: float) -> str:
    """A number that a person can read: 1.23 M, 45.6 k, 0.81.

    >>> number(2_345_678), number(45_600), number(0.8123), number(12.3)
    ('2.35 M', '45.6 k', '0.81', '12.3')
    """
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}" if abs(value) >= 1 else f"{value:.2g}"
