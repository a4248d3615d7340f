"""A mapping compiled for a run: rows in, event batches out.

What the queries do not ask for is left out before anything is read: a predicate that is a constant tells by itself whether its
object is wanted, and `needed` are the fields of what is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scepter.errors import OptionError, nearest, option_error
from scepter.lift.columns import Column
from scepter.lift.model import Constant, EventSection, Made, Mapping, TermMap, TermType, TriplesMap
from scepter.lift.placing import Placing, drop_repeated
from scepter.lift.rows import DocumentRows, Rows
from scepter.lift.terms import Before, Terms, Writer
from scepter.lift.times import KINDS, NO_TIME, text_times, typed_times
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.faults import TIME_RANGE
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.letters import REASONS
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI
from scepter.rdf.times import TimeProperties
from scepter.rdf.untimed import NO_VALUE, ROW_WITHOUT
from scepter.timeline import LAST_INSTANT, TimeKind

_SHOWN = 1000
_LOOKED_AT = 100
"""So many documents of a block are looked at that make no triple."""
_VALUE = 200
"""How much of a value a reason shows."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A predicate and an object of a subject."""

    subject: TermMap
    predicate: TermMap
    object: TermMap


@dataclass(frozen=True, slots=True)
class _Events:
    """The events of some rows: `of_row` is the event of each row, -1 for a row that is none; `rows` the first row of each."""

    of_row: NDArray[np.int64]
    rows: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


class Lifter:
    """The triples maps of one iterator, compiled for a run's key and predicates."""

    def __init__(
        self,
        mapping: Mapping,
        iterator: str | None,
        key: TermKey,
        predicates: frozenset[int] | None,
        times: TimeProperties,
    ) -> None:
        self._mapping = mapping
        self._key = key
        maps = [each for each in mapping.maps if each.iterator == iterator]
        self._section = event_section(mapping, maps, times)
        self._wanted = None if predicates is None else np.array(sorted(predicates), np.uint64)
        self._pairs = [
            Pair(each.subject, predicate, object)
            for each in maps
            for predicate, object in each.objects
            if self._asked(predicate, predicates)
        ]
        self._may_repeat = _may_repeat(self._pairs)
        used: list[TermMap] = [term for pair in self._pairs for term in (pair.subject, pair.predicate, pair.object)]
        objects = [pair.object for pair in self._pairs]
        section = self._section
        used += [term for term in (section.time, section.end, section.event) if term is not None]
        self.needed = tuple(dict.fromkeys(name for term in used if isinstance(term, Made) for name in term.references))
        """The fields that are read."""
        self._telling = section.event if isinstance(section.event, Made) else None
        """What tells the events of rows apart: a name without a field is that of every row, and each is an event."""
        self._before = Before()
        known = {name for term in used if term not in objects for name in _fields(term)}
        self._asked_fields = tuple(name for term in dict.fromkeys(objects) for name in _fields(term) if name not in known)
        self._fields = tuple(
            dict.fromkeys(name for each in maps for _, object in each.objects for name in _fields(object) if name not in known)
        )
        """What triples are made of besides their subjects, also those that nobody asks for."""

    def _asked(self, predicate: TermMap, predicates: frozenset[int] | None) -> bool:
        if predicates is None or not isinstance(predicate, Constant):
            return True
        return term_id(self._key, str(predicate.term)) in predicates

    def lift(
        self, rows: Rows, stream_index: int, source: str, dead_letter: DeadLetterTaker, run: ReadState, *, final: bool = True
    ) -> tuple[EventBatch | None, int]:
        """The events of some rows, and how many of the rows they took: unless `final`, rows of the last event wait for more."""
        writer = Writer(rows, self._key, self._mapping.base, np.zeros(rows.count, np.int64), self._before)
        events, taken = self._events(rows, writer, source, dead_letter, run, final=final)
        if not len(events.rows) or run.kind is None:
            return None, taken
        # salted from the event's number in the run: no two events share a blank node
        writer.salts[:] = np.where(events.of_row >= 0, events.of_row, 0) + run.salt + 1
        run.salt += len(events.rows)
        batch = self._batch(rows, writer, events, stream_index, run.kind)
        for row, reason in [*((fault.row, fault.reason) for fault in writer.faults), *sorted(rows.faults.items())]:
            if events.of_row[row] >= 0:
                dead_letter(self._letter(rows, row, reason, source))
        if isinstance(rows, DocumentRows) and (source, self._fields) not in run.told:
            self._tell_absent(rows, events.of_row >= 0, source, dead_letter, run)
        return batch, taken

    def _tell_absent(
        self, rows: DocumentRows, usable: NDArray[np.bool_], source: str, dead_letter: DeadLetterTaker, run: ReadState
    ) -> None:
        """A dead letter, once for a source, for a document that has none of the fields that triples are made of, and others:
        a name that is misspelt, or a schema that has changed. Fields that are null, or come and go by themselves, are not."""
        bare = usable.copy()
        for name in self._asked_fields:
            column = rows.column(name)
            bare[column.valid if column.owner is None else column.owner[column.valid]] = False
        for row in np.flatnonzero(bare)[:_LOOKED_AT].tolist() if self._asked_fields else ():
            if strange := rows.strange(row, self._fields, self.needed):
                close = nearest(self._fields[0], strange)
                hint = f"did the mapping mean {close}?" if close else f"it has {', '.join(strange[:20])}"
                fields = " nor ".join(self._fields[:20])
                dead_letter(self._letter(rows, row, f"there is no field {fields}: {hint} (told once)", source))
                run.told.add((source, self._fields))
                return

    def part(self, two: Rows) -> bool:
        """Whether two rows that follow each other are of two events."""
        if self._telling is None:
            return True
        writer = Writer(two, self._key, self._mapping.base, np.zeros(2, np.int64))
        ids, _ = _single(writer.terms(self._telling).per_entry(), 2)
        return bool(ids[0] != ids[1])

    # ------------------------------------------------------------------ events

    def _events(
        self, rows: Rows, writer: Writer, source: str, dead_letter: DeadLetterTaker, run: ReadState, *, final: bool
    ) -> tuple[_Events, int]:
        count = rows.count
        start, end, faults = self._times(rows, run)
        name = None if self._telling is None else writer.terms(self._telling).per_entry()
        changed = np.ones(count, np.bool_)
        if name is not None:
            ids, good = _single(name, count)
            changed[1:] = ids[1:] != ids[:-1]
            for row in np.flatnonzero(~good).tolist():
                faults.setdefault(row, f"an event without a name: {rows.faults.get(row, 'a field of it is empty')}")
        taken = count
        if not final and name is not None and count:
            taken = int(np.flatnonzero(changed)[-1])
        usable = np.ones(count, np.bool_)
        usable[list(faults)] = False
        usable[taken:] = False
        for row in sorted(faults):
            if row < taken:
                dead_letter(self._letter(rows, row, faults[row], source))
        group = np.cumsum(changed) - 1
        return self._grouped(rows, group, usable, start, end, source, dead_letter), taken

    def _grouped(
        self, rows: Rows, group: NDArray[np.int64], usable: NDArray[np.bool_], start: NDArray[np.int64],
        end: NDArray[np.int64], source: str, dead_letter: DeadLetterTaker,
    ) -> _Events:  # fmt: skip
        """Rows of one name are one event, if their times agree."""
        if len(group) and group[-1] == len(group) - 1 and usable.all():
            every = np.arange(len(group))
            return _Events(every, every, start, end)
        kept = np.flatnonzero(usable)
        firsts = kept[np.concatenate([[True], group[kept][1:] != group[kept][:-1]])] if len(kept) else kept
        place = np.searchsorted(firsts, kept, side="right") - 1
        apart = kept[(start[kept] != start[firsts[place]]) | (end[kept] != end[firsts[place]])] if len(kept) else kept
        for row in apart.tolist():
            dead_letter(self._letter(rows, row, "a row whose event has another time", source))
        of_row = np.full(len(group), -1, np.int64)
        of_row[kept] = place
        of_row[apart] = -1
        return _Events(of_row, firsts, start[firsts], end[firsts])

    def _times(self, rows: Rows, run: ReadState) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[int, str]]:
        kinds, start = self._instants(rows, self._section.time)
        end_kinds, end = (kinds, start) if self._section.end is None else self._instants(rows, self._section.end)
        faults: dict[int, str] = {}
        known = kinds[(kinds != NO_TIME) & (kinds == end_kinds)]
        if run.kind is None and len(known):
            run.kind = KINDS[int(known[0])]
        expected = KINDS.index(run.kind)
        wrong = (kinds == NO_TIME) | (kinds != expected) | (end_kinds != expected) | (start > end)
        for row in np.flatnonzero(wrong).tolist():
            faults[row] = self._bad_time(rows, row, int(kinds[row]), int(end_kinds[row]), run.kind)
        beyond = ~wrong & ((start < -LAST_INSTANT) | (end > LAST_INSTANT))
        faults |= dict.fromkeys(np.flatnonzero(beyond).tolist(), REASONS[TIME_RANGE])
        return start, end, faults

    def _bad_time(self, rows: Rows, row: int, kind: int, end_kind: int, expected: TimeKind | None) -> str:
        for made, found in ((self._section.time, kind), (self._section.end, end_kind)):
            if made is None or found != NO_TIME:
                continue
            shown = _shown(rows, made, row)
            form = f" is not of the form {self._section.format} and so" if self._section.format else ""
            fields = ", ".join(made.references)
            return f"{shown!r} of {fields}{form} {ROW_WITHOUT}" if shown else f"{fields} {NO_VALUE}, which {ROW_WITHOUT}"
        if kind != end_kind or KINDS[kind] is not expected:
            return "a dateTime among integer times, or an integer among dateTimes"
        return "an event that ends before it starts"

    def _instants(self, rows: Rows, made: Made) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        section = self._section
        if len(made.parts) == 1:
            reference = made.references[0]
            typed = rows.typed(reference)
            if typed is not None:
                found = typed_times(typed, section.unit, section.zone)
                if found is not None:
                    return found
            column = rows.column(reference)
        else:
            column = Writer(rows, self._key, None, np.zeros(rows.count, np.int64)).joined(made)
        kinds, times = text_times(column, section.format, section.unit, section.zone)
        if column.owner is None:
            return kinds, times
        # of several values of a row the first one counts
        first = np.searchsorted(column.owner, np.arange(rows.count))
        there = np.zeros(rows.count, np.bool_)
        there[column.owner] = True
        at = np.minimum(first, max(len(kinds) - 1, 0))
        if not len(kinds):
            return np.zeros(rows.count, np.int64), np.zeros(rows.count, np.int64)
        return np.where(there, kinds[at], NO_TIME), times[at]

    # ------------------------------------------------------------------ triples

    def _batch(self, rows: Rows, writer: Writer, events: _Events, stream_index: int, kind: TimeKind) -> EventBatch:
        placing = Placing(rows.count, self._wanted)
        pairs = [(writer.terms(pair.subject), writer.terms(pair.predicate), writer.terms(pair.object)) for pair in self._pairs]
        for terms in pairs:
            placing.add(terms)
        (ids, places, number, scale, starts), total = placing.triples(events.of_row)
        first = np.append(starts[events.rows], total)
        several = len(events.rows) < np.count_nonzero(events.of_row >= 0)
        if self._may_repeat or several or any(each.owner is not None for terms in pairs for each in terms):
            total = drop_repeated(first, ids, places, number, scale)
        names = self._names(writer, events, rows.count)
        return EventBatch(
            writer.buffer(), kind, np.full(len(events.rows), stream_index, np.int32), events.start, events.end, names, first,
            ids[0, :total], ids[1, :total], ids[2, :total], places[0, :total], places[1, :total], places[2, :total],
            number[:total], scale[:total],
        )  # fmt: skip

    def _names(self, writer: Writer, events: _Events, count: int) -> NDArray[np.int64]:
        if self._section.event is None:
            return np.full(len(events.rows), -1, np.int64)
        name = writer.terms(self._section.event).per_entry()
        if name.constant:
            return np.repeat(name.places, len(events.rows))
        first = events.rows if name.owner is None else np.searchsorted(name.owner, events.rows)
        return name.places[first]

    def _letter(self, rows: Rows, row: int, reason: str, source: str) -> DeadLetter:
        return DeadLetter(source, rows.line(row), reason, rows.text(row)[:_SHOWN])


def event_section(mapping: Mapping, maps: list[TriplesMap], times: TimeProperties) -> EventSection:
    """What makes events of the rows: the mapping's own section, else an object whose predicate is a time property."""
    section = mapping.events or _by_property(maps, times)
    if section is None:
        raise no_time(mapping)
    graphs = {graph for each in maps for pair in range(len(each.objects)) for graph in each.graphs_of(pair)}
    graphs = {graph for graph in graphs if not is_default_graph(graph)}
    if not graphs:
        return section
    if len(graphs) > 1 or (section.event is not None and section.event not in graphs):
        raise option_error(
            "mapping",
            f"{mapping.name}: an event is one graph, and the mapping puts its triples into several",
            help="leave out graphs, and name events by event: …",
        )
    return replace(section, event=graphs.pop())


def is_default_graph(graph: TermMap) -> bool:
    """Whether a graph map names the default graph."""
    names = ("http://w3id.org/rml/defaultGraph", "http://www.w3.org/ns/r2rml#defaultGraph")
    return isinstance(graph, Constant) and isinstance(graph.term, IRI) and graph.term.value in names


def no_time(mapping: Mapping) -> OptionError:
    """The error for a mapping that does not say when its events were."""
    return option_error(
        "mapping-time",
        f"{mapping.name}: the mapping does not say which field is the time",
        help=f"add time: $({_likely_time(mapping) or 'field'})",
    )


def _likely_time(mapping: Mapping) -> str | None:
    return next((name for name in mapping.references if "time" in name.lower() or "date" in name.lower()), None)


def _by_property(maps: list[TriplesMap], times: TimeProperties) -> EventSection | None:
    """The section that stands in the triples themselves: an object whose predicate is a time property."""
    found: dict[str, Made] = {}
    for each in maps:
        for predicate, object in each.objects:
            if isinstance(predicate, Constant) and isinstance(predicate.term, IRI) and isinstance(object, Made):
                found.setdefault(predicate.term.value, Made(object.parts, TermType.LITERAL))
    for ranked in times.ranked:
        if ranked.instant in found:
            return EventSection(found[ranked.instant])
        if ranked.start in found and ranked.end in found:
            return EventSection(found[ranked.start], found[ranked.end])
    return None


def _fields(term: TermMap) -> tuple[str, ...]:
    return tuple(term.references) if isinstance(term, Made) else ()


def _may_repeat(pairs: list[Pair]) -> bool:
    """Whether two pairs could make the same triple."""
    constant = [pair.predicate for pair in pairs if isinstance(pair.predicate, Constant)]
    return len(constant) < len(pairs) or len(set(constant)) < len(constant)


def _single(terms: Terms, count: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The first term of each row."""
    if terms.owner is None:
        return terms.ids, terms.good
    first = np.minimum(np.searchsorted(terms.owner, np.arange(count)), max(len(terms.ids) - 1, 0))
    there = np.zeros(count, np.bool_)
    there[terms.owner] = True
    if not len(terms.ids):
        return np.zeros(count, np.uint64), there
    return terms.ids[first], terms.good[first] & there


def _shown(rows: Rows, made: Made, row: int) -> str:
    texts = []
    for reference in made.references:
        column: Column = rows.column(reference)
        at = row if column.owner is None else int(np.searchsorted(column.owner, row))
        texts.append(column.text(at) if at < len(column) and column.valid[at] else "")
    shown = " ".join(text for text in texts if text)
    return shown if len(shown) <= _VALUE else f"{shown[:_VALUE]}…"
