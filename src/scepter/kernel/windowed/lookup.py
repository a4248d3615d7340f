"""The mappings of a scan, found by some of their values and in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from scepter.kernel.windowed.items import Delta, EventMapping, Values
from scepter.kernel.windowed.joining import Ordered
from scepter.kernel.windowed.scan import Scan
from scepter.rdf.terms import Term

Bound: TypeAlias = dict[str, Term]
"""A mapping by its variables' names."""


class Lookup:
    """A scan whose mappings are asked for with bindings given. An index is made when it is first needed, and then kept."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.bound: dict[EventMapping, Bound] = {}
        self._indexes: dict[tuple[int, ...], dict[Values, Ordered]] = {}

    def update(self) -> Delta:
        """What has changed since the last time."""
        delta = self.scan.update()
        for mapping in delta.removed:
            del self.bound[mapping]
            for places, index in self._indexes.items():
                bucket = index[key := _key(mapping, places)]
                bucket.remove(mapping)
                if not len(bucket):
                    del index[key]
        for mapping in delta.added:
            pairs = zip(self.scan.variables, mapping.values, strict=True)
            self.bound[mapping] = {name: term for name, term in pairs if term is not None}
            for places, index in self._indexes.items():
                index.setdefault(_key(mapping, places), Ordered()).add(mapping)
        return delta

    def find(self, before: int | None, given: Bound, last: bool | None) -> Sequence[EventMapping]:
        """Those that end before a time and agree with the bindings given, in order; of them only the first or the last, if
        `last` says so."""
        places: list[int] = []
        loose: list[int] = []
        for i, name in enumerate(self.scan.variables):
            if name in given:
                (places if name in self.scan.certain else loose).append(i)
        variables = self.scan.variables
        bucket = self._index(tuple(places)).get(tuple([given[variables[i]] for i in places]))
        if bucket is None:
            return ()
        until = len(bucket) if before is None else bucket.ended_before(before)
        if not loose:
            return bucket.mappings[:until] if last is None else bucket.last(until) if last else bucket.first(until)
        found = [m for m in bucket.mappings[:until] if all(m.values[i] in (None, given[variables[i]]) for i in loose)]
        if last is None or not found:
            return found
        order = found[-1 if last else 0].order
        return [mapping for mapping in found if mapping.order == order]

    def _index(self, places: tuple[int, ...]) -> dict[Values, Ordered]:
        index = self._indexes.get(places)
        if index is None:
            index = self._indexes[places] = {}
            for mapping in self.bound:
                index.setdefault(_key(mapping, places), Ordered()).add(mapping)
        return index


def _key(mapping: EventMapping, places: tuple[int, ...]) -> Values:
    values = mapping.values
    return tuple([values[i] for i in places])
