"""SPAseq straight from spec/10-spaseq: every rule as it is written, by enumeration, for streams of about ten events.

Numbers in comments are the rules'. `# CHOICE:` marks what the rules leave open.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from naive.answers import aggregate, results
from naive.runs import Event, Found, Match, Run, Seen, Solution, compatible, extends
from naive.windows import Window
from scepter.algebra.query import (
    Atom,
    Conjunction,
    Construct,
    Disjunction,
    Iteration,
    Negation,
    Optional,
    Program,
    Query,
    Scan,
    Selection,
    Sliding,
    Step,
    Tumbling,
)
from scepter.algebra.walk import find
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.expressions import holds
from scepter.kernel.sparql.patterns import solutions
from scepter.rdf.terms import IRI, BlankNode, Term, Triple
from scepter.timeline import TimeKind

__all__ = ["Event", "Match", "evaluate_program"]


@dataclass(frozen=True, slots=True)
class _Place:
    """A positive atom with what stands before it: the operator next to it, and the negations in between."""

    selection: Selection | None
    negated: tuple[Scan, ...]
    atom: Scan | Conjunction | Disjunction | Iteration


def evaluate_program(
    program: Program,
    events: Iterable[Event],
    *,
    background: Mapping[str, Iterable[Triple]] | None = None,
    start: int = 0,
    kind: TimeKind = TimeKind.INTEGER,
    time_unit: str = "ms",
) -> list[list[Match]]:
    """The matches of each query; a query's CONSTRUCT … INTO feeds the others (12)."""
    waiting = list(enumerate(find(program, Query)))
    known, answers = list(events), {}
    while waiting:
        made_later = {query.result.into for _, query in waiting if isinstance(query.result, Construct)}
        ready = [item for item in waiting if not made_later & {stream.iri for stream in item[1].streams}]
        if not ready:
            raise ValueError("the queries feed each other in a circle")
        for number, query in ready:
            answers[number] = _evaluate(query, known, background or {}, start, kind, time_unit)
        for number, query in ready:
            if isinstance(query.result, Construct) and query.result.into is not None:
                made = (match for match in answers[number] if match.graph)
                known += [Event(query.result.into.value, m.start, m.end, m.graph or frozenset()) for m in made]
        waiting = [item for item in waiting if item not in ready]
    return [answers[number] for number in range(len(answers))]


def _evaluate(
    query: Query, events: Sequence[Event], background: Mapping[str, Iterable[Triple]], start: int, kind: TimeKind, unit: str
) -> list[Match]:
    dataset = Dataset(
        Graph(background.get("", ())), {IRI(name): Graph(triples) for name, triples in background.items() if name}
    )
    streams = {stream.iri.value for stream in query.streams}
    # 10: events before the start are not seen. CHOICE: an interval event is before the start when it ends before it.
    seen = [
        Seen(number, event, _scoped(event, number))
        for number, event in enumerate(events)
        if event.stream in streams and event.end >= start
    ]
    length = query.window.duration.ticks(kind, unit) if isinstance(query.window, Tumbling | Sliding) else 0

    def over(members: Sequence[Seen], partition: Solution) -> _Evaluation:
        return _Evaluation(query, members, dataset, Window(query.window, members, start, length), partition)

    whole = over(seen, {})
    if not query.partition:
        return results(query, whole.matches(), dataset)
    found = []
    for partition in whole.partitions([variable.name for variable in query.partition]):
        found += over([event for event in seen if whole.belongs(event, partition)], partition).matches()
    return results(query, found, dataset)


def _scoped(event: Event, number: int) -> Graph:
    """Model: two events never join on a blank node."""

    def scoped(term: Term) -> Term:
        return BlankNode(f"e{number}.{term.label}") if isinstance(term, BlankNode) else term

    return Graph(Triple(scoped(s), scoped(p), scoped(o)) for s, p, o in event.triples)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """A query over the events of a partition, "as if its events were all there is" (14)."""

    query: Query
    events: Sequence[Seen]
    dataset: Dataset
    window: Window
    partition: Solution

    @property
    def times(self) -> list[int]:
        return sorted({event.time for event in self.events})

    def matches(self) -> list[Found]:
        found = []
        for places, trailing in _variants(self.query.pattern.steps):
            for run in self._runs(places):
                end = self._end(run, places[0].negated, trailing)
                if end is not None:
                    found.append(Found(run, end))
        return found

    def partitions(self, names: Sequence[str]) -> list[Solution]:
        """14. CHOICE: a mapping that leaves one of the variables unbound (by an OPTIONAL) is in no partition."""
        found: list[Solution] = []
        for scan, event in itertools.product(find(self.query, Scan), self.events):
            for mapping in self.bare(scan, event):
                if all(name in mapping for name in names):
                    value = {name: mapping[name] for name in names}
                    found += [] if value in found else [value]
        return found

    def belongs(self, event: Seen, partition: Solution) -> bool:
        """14: some GPM, its FILTERs left aside, binds the variables to the partition's values there."""
        return any(extends(mapping, partition) for scan in find(self.query, Scan) for mapping in self.bare(scan, event))

    # --- what a GPM says about an event

    def bare(self, scan: Scan, event: Seen) -> list[Solution]:
        """`P(e)` with the outermost FILTERs left aside."""
        if event.event.stream != scan.stream.value:
            return []
        found: list[Solution] = []
        for solution in solutions(scan.pattern, event.graph, self.dataset, self._context(event, Run(), None)):
            # SPARQL: a blank node of a pattern is no variable of the mapping, so it joins with nothing outside the pattern.
            mapping = {name: term for name, term in solution.items() if not name.startswith("_:")}
            # CHOICE (14): in a partition a GPM's other mappings are not there either, only those of the partition's value.
            if extends(mapping, self.partition) and mapping not in found:
                found.append(mapping)
        return found

    def accepted(
        self, scan: Scan, run: Run, event: Seen, base: Solution | None = None, previous: Solution | None = None
    ) -> list[Solution]:
        """1: the joined mappings with which the run would take the event in the scan's place."""
        base = run.mapping if base is None else base
        context = self._context(event, run, previous)
        joined: list[Solution] = [{**base, **mapping} for mapping in self.bare(scan, event) if compatible(base, mapping)]
        return [mapping for mapping in joined if all(holds(condition, mapping, context) for condition in scan.filters)]

    def _context(self, event: Seen, run: Run, previous: Solution | None) -> Context:
        return Context(
            graph=event.graph, dataset=self.dataset, previous=previous, iterations=lambda node: aggregate(node, run.iterations)
        )

    def at(self, atom: Atom, run: Run, time: int) -> list[Run]:
        """The runs that go on with the atom by events at this time."""
        match atom:
            case Scan():
                return [
                    replace(run, selected=(*run.selected, event), mapping=mapping)
                    for event in self.events
                    if event.time == time
                    for mapping in self.accepted(atom, run, event)
                ]
            case Conjunction(left, right):  # 6: B's filters see A's variables, so A first
                return [longer for shorter in self.at(left, run, time) for longer in self.at(right, shorter, time)]
            case Disjunction(left, right):
                return self.at(left, run, time) + self.at(right, run, time)
            case Iteration(scan):  # its first iteration
                return [
                    replace(one, iterations={**run.iterations, scan.label: (one.mapping,)}) for one in self.at(scan, run, time)
                ]
            case Negation() | Optional():
                raise ValueError("a negated or optional GPM stands in the sequence only")
            case unreachable:
                assert_never(unreachable)

    # --- how one event follows another

    def _runs(self, places: Sequence[_Place]) -> list[Run]:
        opened = [run for time in self.times for run in self.at(places[0].atom, Run(), time)]
        runs = [replace(run, opening=run.mapping) for run in opened]
        runs = [longer for run in runs for longer in self._iterated(places[0].atom, run)]
        for place in places[1:]:
            runs = [
                longer for run in runs for next_run in self._next(place, run) for longer in self._iterated(place.atom, next_run)
            ]
        return runs

    def _next(self, place: _Place, run: Run) -> list[Run]:
        later = [time for time in self.times if time > run.time]
        found = {time: self.at(place.atom, run, time) for time in later}
        match place.selection:
            case Selection.STRICT if place.negated:
                return self._next_strict_after_negation(place, run, later, found)
            case Selection.STRICT:  # 3
                return found[later[0]] if later else []
            case Selection.NEXT:  # 4
                times = [time for time in later if found[time]][:1]
            case Selection.ANY:  # 5
                times = later
            case Selection.BEFORE | None:
                raise ValueError("an atom of SPAseq that is not the first has one of three operators before it")
            case unreachable:
                assert_never(unreachable)
        # 8: no event strictly between is accepted. CHOICE: the run it must be compatible with is x's, without y's mapping.
        clear = [
            time
            for time in times
            if not any(self._refused(place.negated, run, event) for event in self._between(run.time, time))
        ]
        return [longer for time in clear for longer in found[time]]

    def _next_strict_after_negation(
        self, place: _Place, run: Run, later: Sequence[int], found: Mapping[int, list[Run]]
    ) -> list[Run]:
        """8, Algorithm 9. "With equal times only y's own events must not be B, and only events at the next time are tested."""
        taken = []
        if later:
            for longer in found[later[0]]:
                own = longer.selected[len(run.selected) :]
                if not any(self._refused(place.negated, run, event) for event in own):
                    taken.append(longer)
        if len(later) > 1:
            at_next = [event for event in self.events if event.time == later[0]]
            if not any(self._refused(place.negated, run, event) for event in at_next):
                taken += found[later[1]]
        return taken

    def _refused(self, negated: Sequence[Scan], run: Run, event: Seen) -> bool:
        """8: neighbouring negations act as one negated disjunction."""
        return any(self.accepted(scan, run, event) for scan in negated)

    def _between(self, after: int, before: int) -> list[Seen]:
        return [event for event in self.events if after < event.time < before]

    def _iterated(self, atom: Atom, run: Run) -> Iterator[Run]:
        """7: the run itself and, for a Kleene atom, the runs with more iterations."""
        yield run
        if isinstance(atom, Iteration):
            for longer in self._iteration(atom, run):
                yield from self._iterated(atom, longer)

    def _iteration(self, atom: Iteration, run: Run) -> list[Run]:
        label = atom.scan.label
        base = {name: term for name, term in run.mapping.items() if name not in atom.local}
        later = [time for time in self.times if time > run.time]
        found: dict[int, list[Run]] = {time: [] for time in later}
        for event in self.events:
            if event.time > run.time:
                # CHOICE: PREV and the aggregates take a variable's value from the joined mapping of the iteration.
                for mapping in self.accepted(atom.scan, run, event, base, previous=run.iterations[label][-1]):
                    iterations = {**run.iterations, label: (*run.iterations[label], mapping)}
                    longer = replace(run, selected=(*run.selected, event), mapping=mapping, iterations=iterations)
                    found[event.time].append(longer)
        match atom.selection:
            case Selection.STRICT:
                return found[later[0]] if later else []
            case Selection.NEXT:
                return next((found[time] for time in later if found[time]), [])
            case Selection.ANY:
                return [longer for time in later for longer in found[time]]
            case Selection.BEFORE:
                raise ValueError("no iteration of SPAseq goes on so")
            case unreachable:
                assert_never(unreachable)

    # --- windows, and the negations that look to their ends

    def _end(self, run: Run, leading: Sequence[Scan], trailing: Sequence[Scan]) -> int | None:
        """The match's end; None if the window or a negation at either end refuses it."""
        if not self.window.inside(run):
            return None
        end = run.time
        if trailing:
            # 8: a trailing negation looks from the last event to the close of the window.
            after = [event for event in self.events if event.time > run.time and self.window.reaches_forward(run, event.time)]
            if any(self._refused(trailing, run, event) for event in after):
                return None
            end = self.window.close(run)
        if leading:
            # 8: compatible with the run it precedes, that is with the mapping the first atom starts the run with.
            opening = Run(mapping=run.opening)
            before = [event for event in self.events if event.time < run.selected[0].time]
            before = [event for event in before if self.window.reaches_back(run, end, event.time)]
            if any(self._refused(leading, opening, event) for event in before):
                return None
        return end


def _variants(steps: Sequence[Step]) -> Iterator[tuple[list[_Place], tuple[Scan, ...]]]:
    """9: every `B?` once as `B` and once as `B!`. Then the positive atoms with the negations before them, and what trails."""
    choices = [
        [Step(step.atom.scan, step.selection), Step(Negation(step.atom.scan), step.selection)]
        if isinstance(step.atom, Optional)
        else [step]
        for step in steps
    ]
    for variant in itertools.product(*choices):
        places: list[_Place] = []
        negated: tuple[Scan, ...] = ()
        for step in variant:
            match step.atom:
                case Negation(scan):
                    negated = (*negated, scan)
                case Optional():
                    raise AssertionError("every optional atom has been replaced")
                case positive:
                    places.append(_Place(step.selection, negated, positive))
                    negated = ()
        if places:  # CHOICE: A? alone without its A selects no event and is no match
            yield places, negated
