"""A query kernel's state as bytes, and back: what a checkpoint holds (written form: `kernel.container`).

Only what a later event can concern is written: live runs, the nodes they reach, remembered and buffered solutions, counts of
events, and the texts all these refer to, those of the background too: a run may go on with another background.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from scepter.kernel.container import Arrays, pack, unpack
from scepter.kernel.query import QueryKernel, Solved, Ticks
from scepter.kernel.runs import Runs, Waiting
from scepter.kernel.solutions import Solutions
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.texts import FIXED, Texts
from scepter.rdf.terms import Triple, parse_term

STATE_VERSION = 1
_RUNS = tuple(f.name for f in fields(Runs))
_SOLUTIONS = tuple(f.name for f in fields(Solutions))


def dump(kernel: QueryKernel, texts: Texts, of: str = "") -> bytes:
    """The state of a kernel between two releases; `of` tells what query it is of."""
    kernel.sweep()
    arrays: Arrays = dict(kernel.nodes.columns())
    for name, pool in _pools(kernel):
        runs = pool.runs
        arrays |= {f"{name}.{column}": getattr(runs, column) for column in _RUNS}
        arrays[f"{name}.key"] = pool.key
    for name, table in _tables(kernel):
        arrays |= {f"{name}.{column}": getattr(table, column) for column in _SOLUTIONS}
    for i, part in enumerate(kernel.buffer):
        arrays[f"buffer.{i}.groups"], arrays[f"buffer.{i}.times"] = part.ticks.groups, part.ticks.times
    if kernel.skipping is not None:
        arrays["skip.groups"], arrays["skip.times"] = kernel.skipping.columns()
    groups, totals, recent = kernel.counts.columns()
    arrays |= {"counts.groups": groups, "counts.totals": totals, "counts.recent": recent}
    holding = [name for name in arrays if name.rsplit(".", 1)[-1] in ("refs", "names", "name", "values")]
    flat = np.concatenate([np.empty(0, np.int64), *(arrays[name].ravel() for name in holding)])
    data, moved = texts.extract_all(flat)
    at = 0
    for name in holding:
        arrays[name] = moved[at : at + arrays[name].size].reshape(arrays[name].shape)
        at += arrays[name].size
    arrays["texts"] = np.frombuffer(data, np.uint8)
    meta = {
        "state": STATE_VERSION,
        "of": of,
        "last": kernel.last,
        "buffered": len(kernel.buffer),
        "scans": len(kernel.plan.scans),
        "history": [len(chain.history) for chain in kernel.chains],
        "graphs": {str(n): [[str(t) for t in triple] for triple in graph] for n, graph in kernel.exact.graphs.items()},
    }
    return pack(arrays, meta, sealed=True)


def restore(kernel: QueryKernel, texts: Texts, data: bytes, of: str = "") -> None:
    """Put the state that `dump` wrote into a new kernel; raises ValueError for another version's or another query's."""
    arrays, meta = unpack(data)
    if meta.get("state") != STATE_VERSION:
        raise ValueError(f"state of version {meta.get('state')}, but this is version {STATE_VERSION}")
    if meta["of"] != of:
        raise ValueError("this is the state of another query, or of the same query with other options")
    base = texts.insert(arrays["texts"].tobytes())
    for name, array in arrays.items():
        if name.rsplit(".", 1)[-1] in ("refs", "names", "name", "values"):
            arrays[name] = np.where((array >= 0) & (array < FIXED), array + base, array)
    kernel.nodes.load(arrays)
    for name, pool in _pools(kernel):
        pool.append(_runs(arrays, name), arrays[f"{name}.key"])
    for c, chain in enumerate(kernel.chains):
        chain.history = [_solutions(arrays, f"history.{c}.{i}") for i in range(meta["history"][c])]
    for i in range(meta["buffered"]):
        tables = tuple(_solutions(arrays, f"buffer.{i}.{scan}") for scan in range(meta["scans"]))
        kernel.accept(Solved(tables, Ticks(arrays[f"buffer.{i}.groups"], arrays[f"buffer.{i}.times"])))
    kernel.counts.load(arrays["counts.groups"], arrays["counts.totals"], arrays["counts.recent"])
    if kernel.skipping is not None:
        kernel.skipping.load(arrays["skip.groups"], arrays["skip.times"])
    kernel.last = meta["last"]
    for number, triples in meta["graphs"].items():
        kernel.exact.graphs[int(number)] = Graph(Triple(*(parse_term(t) for t in triple)) for triple in triples)


def _pools(kernel: QueryKernel) -> Iterator[tuple[str, Waiting]]:
    for c, chain in enumerate(kernel.chains):
        for p, pool in enumerate(chain.pools()):
            yield f"pool.{c}.{p}", pool


def _tables(kernel: QueryKernel) -> Iterator[tuple[str, Solutions]]:
    for c, chain in enumerate(kernel.chains):
        for i, table in enumerate(chain.history):
            yield f"history.{c}.{i}", table
    for i, part in enumerate(kernel.buffer):
        for scan, table in enumerate(part.tables):
            yield f"buffer.{i}.{scan}", table


def _runs(arrays: Arrays, name: str) -> Runs:
    """The runs of a pool. Before there were quantifiers and marks, no query needed the columns that hold them."""
    count = len(arrays[f"{name}.time"])
    added: Arrays = {"round": np.ones(count, np.int64), "marks": np.empty((count, 0), np.int64)}
    return Runs(*(arrays[f"{name}.{c}"] if f"{name}.{c}" in arrays else added[c] for c in _RUNS))


def _solutions(arrays: Arrays, name: str) -> Solutions:
    return Solutions(*(arrays[f"{name}.{column}"] for column in _SOLUTIONS))
