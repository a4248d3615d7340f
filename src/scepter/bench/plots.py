"""Throughput over a workload's axis, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from scepter.bench.model import ON_SPARK, Measurement, Workload
from scepter.errors import option_error

_WIDE: Final = 20
"""An axis whose ends differ by more than this factor is logarithmic."""


def plot(workload: Workload, measurements: Sequence[Measurement], folder: Path) -> list[Path]:
    """One picture of a workload; none where there is nothing to draw a line through."""
    # how Spark scales is seen on the wall; everything else is compared by CPU time, since machines are shared
    on_wall = any(m.contender in ON_SPARK for m in measurements)
    lines = _lines(measurements, on_wall=on_wall)
    if max((len(line) for line in lines.values()), default=0) < 2:
        return []
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for contender, line in lines.items():
        axes.plot(*zip(*line, strict=True), marker="o", label=contender, linestyle="-" if contender == "local" else "--")
    _scale(axes, lines)
    axes.set(xlabel=workload.axis, ylabel="triples per second" if on_wall else "triples per CPU-second", title=workload.name)
    axes.grid(alpha=0.3)
    axes.legend()
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{workload.name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        # without a date and with fixed names inside, the same figures give the same bytes
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
    return paths


def _lines(measurements: Sequence[Measurement], *, on_wall: bool) -> dict[str, list[tuple[float | str, float]]]:
    lines: dict[str, list[tuple[float | str, float]]] = {}
    for m in measurements:
        if m.triples:
            lines.setdefault(m.contender, []).append((m.at, m.triples_per_second if on_wall else m.triples_per_cpu_second))
    return lines


def _scale(axes: Any, lines: dict[str, list[tuple[float | str, float]]]) -> None:
    places = [at for line in lines.values() for at, _ in line if not isinstance(at, str)]
    rates = [rate for line in lines.values() for _, rate in line]
    if places and min(places) > 0 and max(places) / min(places) > _WIDE:
        axes.set_xscale("log")
    if max(rates) / min(rates) > _WIDE:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise option_error("bench-plots", "--plots needs matplotlib", help="pip install 'scepter[bench]'") from None
    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "scepter"
    from matplotlib import pyplot

    return pyplot
