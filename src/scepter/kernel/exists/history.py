"""What the EXISTS of a query may look at: occurrences of triples, and graphs of events, each with when it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.triple_index import TripleIndex
from scepter.rdf.terms import Term, Triple

Interval: TypeAlias = tuple[int, int] | None
"""None for what has no time."""


class History:
    """Occurrences by their triples. What was added since `save` can be taken back, newest first."""

    def __init__(self, *, once: bool) -> None:
        self._once = once
        """Whether the first occurrence of a triple stands for all: only that there was one counts."""
        self._intervals = TripleIndex[dict[Interval, None]]()
        self._occurrences = 0
        self._graphs: dict[int, tuple[list[Triple], Interval]] = {}
        self._added: list[tuple[Triple, Interval]] = []
        self._seen: list[int] = []

    def __len__(self) -> int:
        return self._occurrences + len(self._graphs)

    def add(self, triple: Triple, interval: Interval) -> bool:
        """An occurrence; whether it is new to anybody who looks."""
        known = self._intervals.kept.get(triple)
        if known is None:
            self._intervals.enter(triple, {interval: None})
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
        self._graphs.clear()
        self.save()

    def save(self) -> None:
        self._added, self._seen = [], []

    def undo(self) -> None:
        for triple, interval in reversed(self._added):
            known = self._intervals.kept[triple]
            del known[interval]
            self._occurrences -= 1
            if not known:
                self._intervals.leave(triple)
        for event in self._seen:
            del self._graphs[event]
        self.save()

    def match(self, wanted: Sequence[Term | None], until: int | None) -> Iterator[tuple[Triple, Interval]]:
        """The occurrences with these terms (None for any) that have ended by then; None sees only what has no time."""
        for triple in self._intervals.match(wanted):
            for interval in self._intervals.kept[triple]:
                if interval is None or (until is not None and interval[1] <= until):
                    yield triple, interval

    def graphs(self, until: int | None) -> Iterator[tuple[Graph, int, int]]:
        """The graphs of events that have ended by then, each with its interval."""
        for triples, interval in self._graphs.values():
            if interval is not None and until is not None and interval[1] <= until:
                yield Graph(triples), *interval
