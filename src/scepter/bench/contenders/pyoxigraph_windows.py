"""Yardstick: pyoxigraph holds the windows' content and evaluates the whole query whenever they have changed.

What enters and leaves at a step is put into its store and taken out: nothing is loaded anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

import pyoxigraph as ox

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point

Item = tuple[int, list[ox.Quad]]


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """How many rows all evaluations give; the options `width` and `step` are the windows'."""
    width, step = int(point.options["width"]), int(point.options["step"])
    store = ox.Store()
    for path in point.background.values():
        store.bulk_load(path=path, format=ox.RdfFormat.N_TRIPLES)
    entering: dict[int, list[ox.Quad]] = {}
    leaving: dict[int, list[ox.Quad]] = {}
    for time, quads in merge(*map(_items, point.streams.values()), key=lambda item: item[0]):
        entering.setdefault(-(-time // step) * step, []).extend(quads)
        leaving.setdefault(-(-(time + width) // step) * step, []).extend(quads)
    found = 0
    for at in range(min(entering), max(leaving), step):
        for quad in leaving.get(at, ()):
            store.remove(quad)
        store.extend(entering.get(at, ()))
        rows = store.query(point.yardsticks["pyoxigraph-windows"])
        assert isinstance(rows, ox.QuerySolutions)
        found += len(list(rows))
    return Outcome(found)


def _items(path: str) -> Iterator[Item]:
    """The items of N-Quads in which each is a run of lines, its time the last; their triples for the default graph."""
    quads: list[ox.Quad] = []
    for quad in ox.parse(path=path, format=ox.RdfFormat.N_QUADS):
        if isinstance(quad.graph_name, ox.DefaultGraph):
            assert isinstance(quad.object, ox.Literal)
            yield int(quad.object.value), quads
            quads = []
        else:
            quads.append(ox.Quad(quad.subject, quad.predicate, quad.object))
