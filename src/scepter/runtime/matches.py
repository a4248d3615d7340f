"""Matches: complete runs as terms, rows, graphs and answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scepter.algebra.query import Ask, Construct, Select
from scepter.kernel.query import QueryKernel
from scepter.kernel.runs import Runs
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import compile_expression
from scepter.kernel.sparql.patterns import template
from scepter.kernel.texts import Texts
from scepter.rdf.terms import Term, Triple
from scepter.rdf.values import ExpressionError
from scepter.timeline import TimeKind


@dataclass(frozen=True, slots=True)
class Match:
    """A match: when, what it binds or constructs, and the events each part of the pattern selected."""

    start: int
    end: int
    kind: TimeKind
    query: int = 0
    """Which query of the file."""
    bindings: dict[str, Term] = field(default_factory=dict)
    graph: tuple[Triple, ...] | None = None
    boolean: bool | None = None
    events: dict[str, list[object]] = field(default_factory=dict, compare=False)
    """Part -> the events it selected: their names, or the Event objects given to `Engine.push`."""

    def row(self) -> tuple[object, ...]:
        """What makes two matches look the same in a result."""
        bindings = tuple(sorted((k, str(v)) for k, v in self.bindings.items()))
        graph = None if self.graph is None else tuple(sorted(" ".join(map(str, t)) for t in self.graph))
        return (self.end, self.start, self.query, bindings, graph, self.boolean)


Shown = Callable[[int, int], object]
"""(event's number, ref of its name or -1) -> what a match shows for it."""


class Matcher:
    """Makes the matches of one query from complete runs."""

    def __init__(self, number: int, kernel: QueryKernel, texts: Texts, kind: TimeKind, shown: Shown) -> None:
        self._number = number
        self._shown = shown
        self._kernel = kernel
        self._texts = texts
        self._kind = kind
        self._result = kernel.plan.result
        self._context = Context()
        self._answered = False

    def __call__(self, runs: Runs) -> list[Match]:
        """The matches of complete runs, each once."""
        if not len(runs):
            return []
        match self._result:
            case Select():
                return self._rows(runs, self._result)
            case Construct():
                return [self._graph(runs, r, self._result) for r in range(len(runs))]
            case Ask():
                return self._answer(runs)

    def _rows(self, runs: Runs, select: Select) -> list[Match]:
        rows = list(self._select(runs, select))
        if self._kernel.plan.aggregated and self._kernel.can_repeat:
            first = {(self._kernel.events_of(int(runs.node[r])), runs.ids[r].tobytes(), m.row()): m for r, m in enumerate(rows)}
            rows = list(first.values())
        if select.distinct:
            rows = list({m.row(): m for m in rows}.values())
        return rows

    def _select(self, runs: Runs, select: Select) -> Iterator[Match]:
        places = {name: slot for slot, name in enumerate(self._kernel.plan.variables)}
        computed = [(v.name, compile_expression(e)) for v, e in select.columns if e is not None]
        plain = [(v.name, places[v.name]) for v, e in select.columns if e is None]
        ids, refs = runs.ids.tolist(), runs.refs.tolist()
        for r in range(len(runs)):
            row, at = ids[r], refs[r]
            bindings = {name: self._texts.term(at[slot]) for name, slot in plain if row[slot]}
            if computed:
                whole = self._kernel.exact.bindings(runs, r)
                context = self._at(int(runs.node[r]))
                for name, expression in computed:
                    try:
                        bindings[name] = whole[name] = expression(whole, context)
                    except ExpressionError:
                        continue  # SPARQL: an error leaves the variable unbound
                bindings = {v.name: bindings[v.name] for v, _ in select.columns if v.name in bindings}
            yield Match(int(runs.start[r]), int(runs.time[r]), self._kind, self._number, bindings, events=self._events(runs, r))

    def _at(self, node: int) -> Context:
        return Context(
            dataset=self._context.dataset,
            now=self._context.now,
            fresh=self._context.fresh,
            iterations=lambda aggregate: self._kernel.exact.aggregate(aggregate, node),
        )

    def _graph(self, runs: Runs, r: int, construct: Construct) -> Match:
        bindings = self._kernel.exact.bindings(runs, r)
        # fresh blank nodes per match, the same on every engine: from what the match is, not from where it was computed
        solution = (self._number, int(runs.start[r]), int(runs.time[r]), sorted((k, str(v)) for k, v in bindings.items()))
        seed = "m" + hashlib.blake2b(repr(solution).encode(), digest_size=8).hexdigest()
        graph = tuple(sorted(template(construct.template, bindings, seed), key=lambda t: tuple(map(str, t))))
        return Match(int(runs.start[r]), int(runs.time[r]), self._kind, self._number, graph=graph, events=self._events(runs, r))

    def _answer(self, runs: Runs) -> list[Match]:
        if self._answered:
            return []
        self._answered = True
        r = min(range(len(runs)), key=lambda i: (int(runs.time[i]), int(runs.start[i])))
        return [
            Match(int(runs.start[r]), int(runs.time[r]), self._kind, self._number, boolean=True, events=self._events(runs, r))
        ]

    def _events(self, runs: Runs, r: int) -> dict[str, list[object]]:
        nodes, labels = self._kernel.nodes, self._kernel.labels
        parts: dict[str, list[object]] = {}
        for node in nodes.path(int(runs.node[r])):
            parts.setdefault(labels[nodes.part(node)], []).append(self._shown(nodes.event(node), nodes.name(node)))
        return parts

    def reopen(self, answered: bool) -> None:
        """Undo: whether the ASK had been answered before."""
        self._answered = answered

    @property
    def answered(self) -> bool:
        """Whether an ASK has been answered."""
        return self._answered
