"""The workloads, one module each: what has the name WORKLOADS in it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from scepter.bench.model import Workload
from scepter.errors import nearest, option_error


def every() -> dict[str, Workload]:
    """All workloads by name, in the order of their files."""
    found: dict[str, Workload] = {}
    for module in iter_modules(__path__):
        for workload in getattr(import_module(f"{__name__}.{module.name}"), "WORKLOADS", ()):
            found[workload.name] = workload
    return found


def selected(names: Sequence[str]) -> list[Workload]:
    """The workloads of these names, or whose names begin with one and a hyphen; without names, all of them."""
    known = every()
    found: dict[str, Workload] = {}
    for name in names:
        chosen = {n: w for n, w in known.items() if n == name or n.startswith(f"{name}-")}
        if not chosen:
            near = nearest(name, known)
            raise option_error(
                "unknown-workload",
                f"there is no workload {name!r}" + (f"; did you mean {near}?" if near else ""),
                help="scepter bench --list shows them",
            )
        found |= chosen
    return list((found if names else known).values())
