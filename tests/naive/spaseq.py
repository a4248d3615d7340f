"""SPAseq straight from spec/10-spaseq: every rule as it is written, by enumeration, for streams of about ten events.

Numbers in comments are the rules'. `# CHOICE:` marks what the rules leave open.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from naive.answers import aggregate, results
from naive.runs import Event, Found, Match, Run, Seen, Solution, compatible, extends
from naive.windows import Window
from scepter.algebra.query import (
    Atom,
    Conjunction,
    Construct,
    Disjunction,
    Gap,
    Iteration,
    Negation,
    Optional,
    Preference,
    Program,
    Query,
    Resume,
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
    position: int
    """Which step of the query it is."""
    bound: tuple[str, int] | None = None
    """16: (label, d): at most d after the last event of that GPM."""

    def late(self, run: Run, time: int) -> bool:
        return self.bound is not None and time - run.times(self.bound[0])[-1] > self.bound[1]


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

    gaps = {gap: gap.duration.ticks(kind, unit) for gap in find(query, Gap)}

    def over(members: Sequence[Seen], partition: Solution) -> _Evaluation:
        return _Evaluation(query, members, dataset, Window(query.window, members, start, length), partition, gaps)

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
    gaps: Mapping[Gap, int] = field(default_factory=dict)

    @property
    def times(self) -> list[int]:
        return sorted({event.time for event in self.events})

    def matches(self) -> list[Found]:
        if self.query.timeouts:
            return self.timed_out()
        found = []
        for places, trailing in _variants(self.query.pattern.steps, self.gaps):
            for run in self._runs(places):
                end = self._end(run, places[0].negated, trailing)
                if end is not None:
                    found.append((Found(run, end), bool(trailing)))
        return self.skipped(found) if self.query.skip else [each for each, _ in found]

    # --- 17: AFTER MATCH SKIP

    def skipped(self, found: list[tuple[Found, bool]]) -> list[Found]:
        """In order of detection each match that begins where the search goes on after those before it."""
        assert self.query.skip is not None
        kept: list[Found] = []
        since = -1
        for match, trailing in sorted(found, key=lambda each: _detection(each[0])):
            first = match.run.selected[0].time
            if first >= since:
                kept.append(match)
                close = isinstance(self.query.window, Tumbling) and trailing  # the next window's first instant
                label = self.query.skip.label or ""
                match self.query.skip.resume:
                    case Resume.NEXT:
                        resume = first + 1
                    case Resume.PAST_LAST:
                        resume = match.end + (0 if close else 1)
                    case Resume.FIRST:
                        resume = match.run.times(label)[0]
                    case Resume.LAST:
                        resume = match.run.times(label)[-1]
                since = max(since, resume)
        return kept

    # --- 18: partial matches that ran out of time

    def timed_out(self) -> list[Found]:
        """What waits for an event, in every reading of the query that begins like it, when its time is over."""
        readings = list(_variants(self.query.pattern.steps, self.gaps))
        waiting: list[tuple[tuple[int, ...], int, Run, int]] = []
        for number, (places, _) in enumerate(readings):
            for taken in range(1, len(places) + 1):
                for run in self._runs(places, taken):
                    end = self._waits(places, taken, run)
                    if end is not None:
                        waiting.append((tuple(place.position for place in places[:taken]), number, run, end))
        found: list[Found] = []
        for begun, _, run, end in waiting:
            alike = {n for n, (places, _) in enumerate(readings) if tuple(p.position for p in places[: len(begun)]) == begun}
            same = {n for other, n, twin, _ in waiting if other == begun and _same(run, twin)}
            if alike == same and not any(_same(run, known.run) for known in found):
                found.append(Found(run, end))
        return found

    def _waits(self, places: Sequence[_Place], taken: int, run: Run) -> int | None:
        """When the time of a run is over that then still waits; None for one that does not."""
        if not self.window.inside(run):
            return None
        last, atom = places[taken - 1], places[taken - 1].atom
        short = isinstance(atom, Iteration) and len(run.iterations[atom.scan.label]) < atom.least
        # 16: a bound counts from the last event of its atom; where iterations are missing, that is still to come
        known = {label for label in run.labels if not (short and label == run.labels[-1])}
        deadlines = [run.times(p.bound[0])[-1] + p.bound[1] for p in places[taken:] if p.bound and p.bound[0] in known]
        if short and last.bound is not None:
            deadlines.append(run.times(last.bound[0])[-1] + last.bound[1])
        deadline = min(deadlines, default=None)
        if self.query.window is None and deadline is None:
            return None
        if deadline is not None and run.time > deadline:  # it ran out before it took its last event
            return None

        def reached(time: int) -> bool:
            open_ = self.query.window is None or self.window.reaches_forward(run, time)
            return open_ and (deadline is None or time <= deadline)

        later = [time for time in self.times if time > run.time and reached(time)]
        if short:
            assert isinstance(atom, Iteration)
            went_on = any(reached(longer.time) for longer in self._iteration(last, run))
            if went_on or (atom.selection is Selection.STRICT and later):
                return None
        elif taken == len(places) or not self._still(places, taken, run, later):
            return None
        end = self.window.over(run, deadline)
        return end if self._clear_before(run, places[0].negated, end) else None

    def _still(self, places: Sequence[_Place], taken: int, run: Run, later: Sequence[int]) -> bool:
        """Whether a run goes on waiting for its next step behind these times."""
        place = places[taken]
        if self._held(places[taken - 1], run) in later:
            return False
        refused = [t for t in later if any(self._refused(place.negated, run, e) for e in self.events if e.time == t)]
        match place.selection:
            case Selection.STRICT if place.negated:
                return not later or (len(later) == 1 and not refused)
            case Selection.STRICT:
                return not later
            case Selection.NEXT:
                accepted = any(self.at(place.atom, run, time) for time in later if not place.late(run, time))
                return not refused and not accepted
            case _:
                return not refused

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
                    replace(run, selected=(*run.selected, event), mapping=mapping, labels=(*run.labels, atom.label))
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

    def _runs(self, places: Sequence[_Place], taken: int | None = None) -> list[Run]:
        """The runs through all places; through so many of them, also those whose last atom has too few iterations."""
        opened = [run for time in self.times for run in self.at(places[0].atom, Run(), time)]
        runs = [replace(run, opening=run.mapping) for run in opened]
        for number, place in enumerate(places[:taken]):
            if number:
                runs = [longer for run in runs for longer in self._next(place, places[number - 1], run)]
            short = taken is not None and number == taken - 1
            following = places[number + 1] if number + 1 < len(places) else None
            runs = [longer for run in runs for longer in self._iterated(place, following, run, short)]
        return runs

    def _next(self, place: _Place, before: _Place, run: Run) -> list[Run]:
        later = [time for time in self.times if time > run.time]
        found = {time: [] if place.late(run, time) else self.at(place.atom, run, time) for time in later}
        # 15: what can be a further iteration of a greedy atom is one
        held = self._held(before, run)
        found = {time: [] if held is not None and time >= held else longer for time, longer in found.items()}
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

    def _iterated(self, place: _Place, following: _Place | None, run: Run, short: bool) -> Iterator[Run]:
        """7, 15: the run itself and, for a Kleene atom, the runs with more iterations."""
        atom = place.atom
        if not isinstance(atom, Iteration):
            yield run
            return
        rounds = len(run.iterations[atom.scan.label])
        if rounds >= atom.least or short:
            yield run
        if atom.most is not None and rounds >= atom.most:
            return
        leaves = None
        if atom.preference is Preference.RELUCTANT and following is not None and rounds >= atom.least:
            # 15: what can be the next atom's event is that
            times = [time for time in self.times if time > run.time]
            times = times[:1] if following.selection is Selection.STRICT else times
            accepted = [t for t in times if not following.late(run, t) and self.at(following.atom, run, t)]
            leaves = min(accepted, default=None)
        for longer in self._iteration(place, run):
            if leaves is None or longer.time < leaves:
                yield from self._iterated(place, following, longer, short)

    def _held(self, before: _Place, run: Run) -> int | None:
        """15: when a further iteration of a greedy atom comes."""
        atom = before.atom
        if not isinstance(atom, Iteration) or atom.preference is not Preference.GREEDY:
            return None
        if atom.most is not None and len(run.iterations[atom.scan.label]) >= atom.most:
            return None
        return min((longer.time for longer in self._iteration(before, run)), default=None)

    def _iteration(self, place: _Place, run: Run) -> list[Run]:
        atom = place.atom
        assert isinstance(atom, Iteration)
        label = atom.scan.label
        base = {name: term for name, term in run.mapping.items() if name not in atom.local}
        later = [time for time in self.times if time > run.time]
        found: dict[int, list[Run]] = {time: [] for time in later}
        for event in self.events:
            if event.time > run.time and not place.late(run, event.time):
                # CHOICE: PREV and the aggregates take a variable's value from the joined mapping of the iteration.
                for mapping in self.accepted(atom.scan, run, event, base, previous=run.iterations[label][-1]):
                    iterations = {**run.iterations, label: (*run.iterations[label], mapping)}
                    selected, labels = (*run.selected, event), (*run.labels, label)
                    longer = replace(run, selected=selected, labels=labels, mapping=mapping, iterations=iterations)
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
        return end if self._clear_before(run, leading, end) else None

    def _clear_before(self, run: Run, leading: Sequence[Scan], end: int) -> bool:
        """8: compatible with the run it precedes, that is with the mapping the first atom starts the run with."""
        opening = Run(mapping=run.opening)
        before = [event for event in self.events if event.time < run.selected[0].time]
        before = [event for event in before if self.window.reaches_back(run, end, event.time)]
        return not any(self._refused(leading, opening, event) for event in before)


def _detection(match: Found) -> tuple[object, ...]:
    """17: by end, by first event, more events before fewer, by the mapping's text."""
    mapping = " ".join(f"?{name} {term}" for name, term in sorted(match.run.mapping.items()))
    numbers = sorted({event.number for event in match.run.selected})
    return match.end, match.run.selected[0].time, -len(numbers), mapping, numbers


def _same(one: Run, other: Run) -> bool:
    """11: the same events and the same mapping."""
    return {e.number for e in one.selected} == {e.number for e in other.selected} and one.mapping == other.mapping


def _variants(steps: Sequence[Step], gaps: Mapping[Gap, int] | None = None) -> Iterator[tuple[list[_Place], tuple[Scan, ...]]]:
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
        for position, step in enumerate(variant):
            match step.atom:
                case Negation(scan):
                    negated = (*negated, scan)
                case Optional():
                    raise AssertionError("every optional atom has been replaced")
                case positive:
                    bound = None if step.bound is None else (step.bound.label, (gaps or {})[step.bound])
                    places.append(_Place(step.selection, negated, positive, position, bound))
                    negated = ()
        if places:  # CHOICE: A? alone without its A selects no event and is no match
            yield places, negated
