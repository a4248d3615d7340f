"""Periodic evaluation: at every step a pattern over the union of the windows and static data (spec/50-sparkwave rule 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scepter.algebra.patterns import BGP, Pattern, TriplePattern
from scepter.algebra.walk import Algebra, rewrite
from scepter.kernel.continuous.knowledge import Knowledge
from scepter.kernel.continuous.occurrences import Sighting
from scepter.kernel.continuous.windowgraph import WindowGraph
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import ExpressionError


class Answer(NamedTuple):
    """The rows of one evaluation."""

    instant: int
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Item:
    """An event in a window: its time, and what its triples stand for."""

    end: int
    sighting: Sighting
    triples: tuple[Triple, ...]


class PeriodicEvaluation:
    """The windows of one periodic query. Items are given in order of time."""

    def __init__(
        self,
        pattern: Pattern,
        knowledge: Knowledge,
        ranges: Mapping[int, int],
        step: int,
        origin: int,
        instant: Callable[[int], Term],
        *,
        every: bool = False,
    ) -> None:
        """`every`: also where no window holds an event, from the first event on."""
        self._knowledge = knowledge
        self._ranges = ranges
        self._step = step
        self._origin = origin
        self._instant = instant
        self._graph = WindowGraph(knowledge.static)
        self._plan = compile_pattern(_rarest_first(pattern, knowledge.static))
        self._context = Context(graph=self._graph, dataset=knowledge.dataset, timestamp=self._timestamp)
        self._inside: dict[int, deque[Item]] = {stream: deque() for stream in ranges}
        self._ahead: deque[Item] = deque()
        self._last: int | None = None
        self._every = every
        self._latest: int | None = None
        self._rows: list[Row] | None = None
        """The rows of the last evaluation, as long as the windows do not change."""

    def give(self, item: Item) -> None:
        """An event that ends at or after all given before."""
        self._ahead.append(item)
        self._latest = item.end

    def entailed(self, triples: tuple[Triple, ...]) -> tuple[Triple, ...]:
        """What an event's triples stand for, each once."""
        return tuple(dict.fromkeys(t for triple in triples for t in self._knowledge.entailed(triple)))

    def evaluate(self, until: int | None) -> Iterator[Answer]:
        """All evaluations up to an instant, that is, all events up to it have been given; None is the end of the input."""
        if self._every and until is None and self._latest is not None:
            until = self._multiple(self._latest)  # bounded input: up to the first multiple at or after the last event
        while (instant := self._next()) is not None and (until is None or instant <= until):
            self._last = instant
            self._move(instant)
            if self._every or any(self._inside.values()):
                if self._rows is None:
                    self._rows = list(self._plan(self._context))
                yield Answer(instant, self._rows)

    def _next(self) -> int | None:
        """The next multiple of the step at which something is, or comes to be, in a window."""
        if self._last is not None and (self._every or any(self._inside.values())):
            return self._last + self._step
        return self._multiple(self._ahead[0].end) if self._ahead else None

    def _multiple(self, time: int) -> int:
        """The first multiple of the step at or after a time."""
        return time + (self._origin - time) % self._step

    def _move(self, instant: int) -> None:
        while self._ahead and self._ahead[0].end <= instant:
            item = self._ahead.popleft()
            if item.end > instant - self._ranges[item.sighting.stream]:
                self._inside[item.sighting.stream].append(item)
                self._rows = None
                for triple in item.triples:
                    self._graph.enter(triple, item.end)
        for stream, items in self._inside.items():
            while items and items[0].end <= instant - self._ranges[stream]:
                item = items.popleft()
                self._rows = None
                for triple in item.triples:
                    self._graph.leave(triple, item.end)

    def _timestamp(self, subject: Term, predicate: Term, object: Term) -> Term:
        time = self._graph.latest(Triple(subject, predicate, object))
        if time is None:
            raise ExpressionError(f"{subject} {predicate} {object} is in no window")
        return self._instant(time)

    def state_rows(self) -> Mapping[str, int]:
        """Events in the windows and ahead of them, and different triples in the windows."""
        inside = sum(map(len, self._inside.values()))
        return {"events in windows": inside + len(self._ahead), "triples in windows": self._graph.streamed}

    def live_events(self) -> Iterator[int]:
        """No answer shows events: it is of all of them."""
        return iter(())


def _rarest_first(pattern: Pattern, static: Graph) -> Pattern:
    """The triple patterns of each BGP, those with fewest static triples first: a join then starts from the stream, which is
    small, and looks the repository up."""

    def count(triple: TriplePattern) -> int:
        nodes = (triple.subject, triple.predicate, triple.object)
        return static.count(*(getattr(node, "term", None) for node in nodes))

    def sort(node: Algebra) -> Algebra:
        if not isinstance(node, BGP) or len(node.triples) < 2:
            return node
        ordered = tuple(sorted(node.triples, key=count))
        return node if ordered == node.triples else BGP(ordered)

    return rewrite(pattern, sort)
