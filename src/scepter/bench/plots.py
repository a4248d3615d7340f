"""What a workload shows over its axis, as PNG and SVG: throughput, CPU time, delay, memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from scepter.bench.model import AUTOMATON, DELAYS, GPM, ON_SPARK, RESIDENT, SCAN, Measurement, Shown, Workload
from scepter.bench.tables import place
from scepter.errors import option_error

_WIDE: Final = 20
"""An axis whose ends differ by more than this factor is logarithmic."""
_MANY: Final = 6
"""The names of more lines than this stand beside the picture, not on them."""

_COLOURS: Final = 10
_MARKERS: Final = "o^s"
"""So many lines differ in colour; those behind them have other markers."""


def plot(workload: Workload, measurements: Sequence[Measurement], folder: Path) -> list[Path]:
    """The pictures of a workload; none where there is nothing to draw a line through."""
    return [path for shown in workload.shows for path in _picture(workload, shown, measurements, folder)]


def _picture(workload: Workload, shown: Shown, measurements: Sequence[Measurement], folder: Path) -> list[Path]:
    # how Spark scales is seen on the wall; everything else is compared by CPU time, since machines are shared
    on_wall = any(m.contender in ON_SPARK for m in measurements)
    lines = _lines(shown, measurements, on_wall=on_wall)
    if max((len(line) for line in lines.values()), default=0) < 2:
        return []
    pyplot = _pyplot()
    beside = len(lines) > _MANY
    figure, axes = pyplot.subplots(figsize=(10 if beside else 7, 4.2), layout="constrained")
    for number, (contender, line) in enumerate(lines.items()):
        style = "-" if contender.startswith("local") else "--"
        marker = _MARKERS[number // _COLOURS % len(_MARKERS)]
        axes.plot(*zip(*line, strict=True), marker=marker, label=contender, linestyle=style)
    _scale(axes, lines)
    on_the_wall = on_wall and shown is Shown.THROUGHPUT
    axis = "% of the stream" if shown is Shown.MEMORY_OVER_TIME else workload.axis
    axes.set(xlabel=axis, ylabel="triples per second" if on_the_wall else shown.value, title=workload.name)
    axes.grid(alpha=0.3)
    axes.legend(**({"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {}))
    folder.mkdir(parents=True, exist_ok=True)
    name = workload.name if shown is workload.shows[0] else f"{workload.name}-{shown.name.lower()}"
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        # without a date and with fixed names inside, the same figures give the same bytes
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
    return paths


def _lines(
    shown: Shown, measurements: Sequence[Measurement], *, on_wall: bool
) -> dict[str, list[tuple[float | str, float]]]:  # fmt: skip
    lines: dict[str, list[tuple[float | str, float]]] = {}
    for m in measurements:
        if shown is Shown.MEMORY_OVER_TIME:
            lines[f"{m.contender}, {place(m)}"] = _over_time(m)
            continue
        for of, value in _values(shown, m, on_wall=on_wall).items():
            lines.setdefault(f"{m.contender}: {of}" if of else m.contender, []).append((m.at, value))
    return lines


def _over_time(m: Measurement) -> list[tuple[float | str, float]]:
    """What a run held after so much of its stream."""
    at = {RESIDENT % percent: percent for percent in range(101)}
    return sorted((at[name], value) for name, value in m.extra.items() if name in at)


def _values(shown: Shown, m: Measurement, *, on_wall: bool) -> dict[str, float]:
    """What a measurement has of what is shown, by the lines that it adds to."""
    match shown:
        case Shown.THROUGHPUT:
            return {"": m.triples_per_second if on_wall else m.triples_per_cpu_second} if m.triples else {}
        case Shown.CPU:
            return {"": m.streaming}
        case Shown.MEMORY | Shown.MEMORY_OVER_TIME:
            return {"": (m.peak - m.begun) / 1e6}
        case Shown.DELAY:
            return {name.partition(",")[0]: m.extra[name] for name in DELAYS if name in m.extra}
        case Shown.COSTS:
            return {name.partition(",")[0]: m.extra[name] for name in (SCAN, GPM, AUTOMATON) if name in m.extra}


def _scale(axes: Any, lines: dict[str, list[tuple[float | str, float]]]) -> None:
    places = [at for line in lines.values() for at, _ in line if not isinstance(at, str)]
    rates = [rate for line in lines.values() for _, rate in line]
    if places and min(places) > 0 and max(places) / min(places) > _WIDE:
        axes.set_xscale("log")
    if min(rates) > 0 and max(rates) / min(rates) > _WIDE:
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
