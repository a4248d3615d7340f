"""What the EXISTS of a query may look at: occurrences of triples, and graphs of events, each with when it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from scepter.kernel.sparql.dataset import Graph
from scepter.rdf.terms import Term, Triple

Interval: TypeAlias = tuple[int, int] | None
"""None for what has no time."""


class History:
    """Occurrences by their triples. What was added since `save` can be taken back, newest first."""

    def __init__(self, *, once: bool) -> None:
        self._once = once
        """Whether the first occurrence of a triple stands for all: only that there was one counts."""
        self._intervals: dict[Triple, dict[Interval, None]] = {}
        self._occurrences = 0
        self._indexes: dict[tuple[int, ...], dict[tuple[Term, ...], dict[Triple, None]]] = {}
        self._graphs: dict[int, tuple[list[Triple], Interval]] = {}
        self._added: list[tuple[Triple, Interval]] = []
        self._seen: list[int] = []

    def __len__(self) -> int:
        return self._occurrences + len(self._graphs)

    def add(self, triple: Triple, interval: Interval) -> bool:
        """An occurrence; whether it is new to anybody who looks."""
        known = self._intervals.get(triple)
        if known is None:
            self._intervals[triple] = {interval: None}
            for positions, index in self._indexes.items():
                index.setdefault(tuple(triple[i] for i in positions), {})[triple] = None
        elif self._once or interval in known:
            return False
        else:
            known[interval] = None
        self._occurrences += 1
        self._added.append((triple, interval))
        return True

    def add_graph(self, event: int, triple: Triple, interval: Interval) -> None:
        """A triple of an event's graph."""
        if event not in self._graphs:
            self._graphs[event] = [], interval
            self._seen.append(event)
        self._graphs[event][0].append(triple)

    def clear(self) -> None:
        """Nothing has happened."""
        self._intervals.clear()
        self._occurrences = 0
        self._indexes.clear()
        self._graphs.clear()
        self.save()

    def save(self) -> None:
        """What is added from here on may be taken back."""
        self._added, self._seen = [], []

    def undo(self) -> None:
        """Back to `save`."""
        for triple, interval in reversed(self._added):
            known = self._intervals[triple]
            del known[interval]
            self._occurrences -= 1
            if not known:
                del self._intervals[triple]
                for positions, index in self._indexes.items():
                    del index[tuple(triple[i] for i in positions)][triple]
        for event in self._seen:
            del self._graphs[event]
        self.save()

    def match(self, wanted: Sequence[Term | None], until: int | None) -> Iterator[tuple[Triple, Interval]]:
        """The occurrences with these terms (None for any) that have ended by then; None sees only what has no time."""
        positions = tuple(i for i, term in enumerate(wanted) if term is not None)
        if positions not in self._indexes:
            index = self._indexes[positions] = {}
            for triple in self._intervals:
                index.setdefault(tuple(triple[i] for i in positions), {})[triple] = None
        for triple in self._indexes[positions].get(tuple(t for t in wanted if t is not None), ()):
            for interval in self._intervals[triple]:
                if interval is None or (until is not None and interval[1] <= until):
                    yield triple, interval

    def graphs(self, until: int | None) -> Iterator[tuple[Graph, int, int]]:
        """The graphs of events that have ended by then, each with its interval."""
        for triples, interval in self._graphs.values():
            if interval is not None and until is not None and interval[1] <= until:
                yield Graph(triples), *interval
