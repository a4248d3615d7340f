"""Measurements as JSON. docs/benchmarks/index.md tells what each field means."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

from scepter.bench.model import Measurement, Verdict

FORMAT: Final = 1


def record(measurements: Sequence[Measurement], verdicts: Sequence[Verdict], *, quick: bool, repeats: int) -> dict[str, Any]:
    """All of a run."""
    return {
        "format": FORMAT,
        "scepter": version("scepter"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "quick": quick,
        "repeats": repeats,
        "measurements": [_measurement(m) for m in measurements],
        "goals": [_verdict(v) for v in verdicts],
    }


def machine() -> dict[str, Any]:
    """What ran it, and how busy that was."""
    return {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "processor": _processor(),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
    except FileNotFoundError:
        return platform.processor() or platform.machine()


def _measurement(m: Measurement) -> dict[str, Any]:
    return {
        "workload": m.workload,
        "at": m.at,
        "contender": m.contender,
        "events": m.events,
        "triples": m.triples,
        "answers": m.answers,
        "cpu_seconds": round(m.cpu, 4),
        "wall_seconds": round(m.wall, 4),
        "events_per_cpu_second": round(m.events_per_cpu_second),
        "triples_per_cpu_second": round(m.triples_per_cpu_second),
        "triples_per_second": round(m.triples_per_second),
        "peak_bytes": m.peak,
        "begun_bytes": m.begun,
        "state_rows": m.state,
        "samples": [{"cpu_seconds": round(s.cpu, 4), "wall_seconds": round(s.wall, 4)} for s in m.samples],
        "extra": dict(m.extra),
    }


def _verdict(v: Verdict) -> dict[str, Any]:
    return {"workload": v.workload, "what": v.what, "value": v.value, "least": v.least, "most": v.most, "met": v.met}
