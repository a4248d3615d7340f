"""The first written form of a sequence's state, as the one of today: checkpoints of released versions are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from scepter.kernel.rows import COLUMNS, NO_LINEAGE, lasting
from scepter.kernel.scan.graph_scan import Ticks
from scepter.kernel.state.container import Arrays
from scepter.physical.sequence_plan import QueryPlan
from scepter.runtime.spark.bucket_work import STATE_FORM

_NODES = {"left": "parent", "part": "part", "event": "event", "name": "name", "values": "values"}


def modern(arrays: Arrays, meta: dict[str, Any], plan: QueryPlan) -> tuple[Arrays, dict[str, Any]]:
    """A state of any form. The first had a tree of its own for events, and its buffer in parts."""
    if meta.get("state") != 1:
        return arrays, meta
    leaves = len(plan.scans) + plan.ticked
    found: Arrays = {"texts": arrays["texts"]}
    for name, array in arrays.items():
        if name.split(".")[0] in ("pool", "history", "skip", "counts"):
            found[f"operator.{leaves}.{name}"] = array
    for name in [name for name in found if name.endswith(".time") and ".pool." in name]:
        count, pool = len(found[name]), name.removesuffix("time")  # before there were quantifiers and marks
        found.setdefault(f"{pool}round", np.ones(count, np.int64))
        found.setdefault(f"{pool}marks", np.empty((count, 0), np.int64))
    found |= _waiting(arrays, meta, plan)
    for name, old in _NODES.items():
        more = [found.pop(f"more.{name}")] if f"more.{name}" in found else []
        found[f"lineage.{name}"] = np.concatenate([arrays[f"nodes.{old}"], *more])
    found["lineage.right"] = np.full(len(found["lineage.left"]), NO_LINEAGE, np.int64)
    return found, {"form": STATE_FORM, "of": meta["of"], "unit": {"answered": False, "graphs": meta["graphs"]}}


def _waiting(arrays: Arrays, meta: dict[str, Any], plan: QueryPlan) -> Arrays:
    """What had been scanned and waited for its time: rows, and leaves of lineage for their events."""
    found: Arrays = {}
    nodes, events, names = len(arrays["nodes.parent"]), [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    parts = range(meta["buffered"])
    for scan, planned in enumerate(plan.scans):
        column = {
            name: np.concatenate([_none(name, len(planned.slots)), *(arrays[f"buffer.{i}.{scan}.{name}"] for i in parts)])
            for name in ("ids", "refs", "number", "scale", "start", "time", "events", "names")
        }
        count = len(column["time"])
        events.append(column["events"][:, 0])
        names.append(column["names"][:, 0])
        since, until = lasting(count)
        terms = {name: column[name] for name in ("ids", "refs", "number", "scale", "start")}
        lineage = np.arange(nodes, nodes + count)
        rows = terms | {"end": column["time"], "since": since, "until": until, "lineage": lineage}
        found |= {f"waiting.{scan}.{name}": array for name, array in rows.items()}
        nodes += count
    if plan.ticked:
        groups = np.concatenate([np.empty(0, np.uint64), *(arrays[f"buffer.{i}.groups"] for i in parts)])
        times = np.concatenate([np.empty(0, np.int64), *(arrays[f"buffer.{i}.times"] for i in parts)])
        ticks = Ticks(groups, times).rows()
        found |= {f"waiting.{len(plan.scans)}.{name}": getattr(ticks, name) for name in COLUMNS}
    event, name = np.concatenate(events), np.concatenate(names)
    none = np.full(len(event), NO_LINEAGE, np.int64)
    values = np.full((len(event), len(plan.aggregated)), -1, np.int64)
    more = {"left": none, "part": np.zeros(len(event), np.int64), "event": event, "name": name, "values": values}
    return found | {f"more.{name}": array for name, array in more.items()}


def _none(name: str, width: int) -> np.ndarray[Any, Any]:
    if name in ("events", "names"):
        return np.empty((0, 1), np.int64)
    kinds = {"ids": np.uint64, "number": np.float64, "scale": np.int8}
    shape = (0, width) if name in ("ids", "refs", "number", "scale") else (0,)
    return np.empty(shape, kinds.get(name, np.int64))
