"""Continuous matching in columns: batches of events in, the matches that they complete out, nothing decoded on the way.

The slow twin is `matching.ContinuousMatching`, which steps over the same instants term by term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.scope import mentioned_variables
from scepter.kernel.continuous.admitted import END, EVENT, NAME, START, STREAM, Admitted, in_parts
from scepter.kernel.continuous.conclusions import Conclusions
from scepter.kernel.continuous.joins import plan_joins
from scepter.kernel.continuous.knowledge import Knowledge
from scepter.kernel.continuous.memories import CHUNK, Memories
from scepter.kernel.continuous.repository import StaticTriples
from scepter.kernel.continuous.shown import sightings_of, spans_of, terms_of
from scepter.kernel.exact import holds_all
from scepter.kernel.intake import Intake
from scepter.kernel.programs import ROW, Place, Programs, compile_conjuncts
from scepter.kernel.search import search_local
from scepter.kernel.solutions import Int64, UInt64
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.texts import Texts
from scepter.ontology.entailment import Flattened
from scepter.physical.continuous import Core, can_repeat
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term

_NO_GRAPH = Graph()


@dataclass(frozen=True, slots=True)
class Sightings:
    """The events that matches are made of: those of match m from `first[m]` to `first[m + 1]`, by time and number. Where nobody
    asks for a match's triples, each event once, with one of its triples."""

    first: Int64
    event: Int64
    name: Int64
    """The ref of the event's name, -1 for none."""
    stream: Int64
    start: Int64
    end: Int64
    occurrence: Int64
    """Which occurrence it is a sighting of: equal for the same one."""
    refs: Int64
    """[sighting, position]: the triple."""

    @classmethod
    def joined(cls, parts: Sequence[Sightings]) -> Sightings:
        """Those of the matches of one part after those of another."""
        counts = np.concatenate([np.diff(part.first) for part in parts])
        names = [field.name for field in fields(cls)][1:]
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return cls(np.concatenate([[0], np.cumsum(counts)]), *columns)


@dataclass(frozen=True, slots=True)
class Found:
    """Matches in columns, in order of their end."""

    names: tuple[str, ...]
    ids: UInt64
    """[match, variable]."""
    refs: Int64
    start: Int64
    end: Int64
    sightings: Sightings

    def __len__(self) -> int:
        return len(self.end)

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """One after the other. Occurrences of different parts are different, but may have the same number."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            parts[0].names,
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.refs for part in parts]),
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            Sightings.joined([part.sightings for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class _Local:
    """The conditions that speak of one triple pattern alone: a triple that fails them for sure is not kept for it."""

    pattern: int
    programs: Programs


class ColumnarMatching:
    """The state of one continuous query whose pattern is a join of triple patterns."""

    def __init__(
        self,
        core: Core,
        knowledge: Knowledge,
        flattened: Flattened,
        ticks: Callable[[], Int64],
        key: TermKey,
        texts: Texts,
        *,
        whole: bool,
    ) -> None:
        """`whole` where somebody asks for the triples of matches, and not for their variables and events alone."""
        triples = (*core.triples, *(triple for _, triple in core.graphs))
        named = knowledge.dataset.named
        graphs = [knowledge.static] * len(core.triples)
        graphs += [named.get(name, _NO_GRAPH) for name, _ in core.graphs]
        self._static = StaticTriples.of(list(zip(triples, graphs, strict=True)), key, texts)
        self._plan = plan_joins(triples, [len(rows) for rows in self._static.matching])
        self._origins = np.array(self._plan.origins, np.int64).reshape(-1, 2)
        self._memories = Memories(self._plan, self._static, len(core.triples))
        shown = np.ones((len(triples), 3), np.bool_) if whole else self._plan.shown()
        self._conclusions = Conclusions(core.triples, flattened, key, texts, shown[: len(core.triples)])
        self._repeats = can_repeat(core.node)
        """Whether two choices of occurrences may be one match."""
        self._whole = whole
        self._ticks = ticks
        self._texts = texts
        self._filters = core.filters
        self._context = Context(graph=knowledge.static, dataset=knowledge.dataset)
        place = {name: i for i, name in enumerate(self._plan.names)}
        self._programs = compile_conjuncts(core.filters, lambda name, _: _at(place.get(name)), key)
        self._locals = list(_locals(core, key))
        self._waiting: list[Admitted] = []
        self._number = 0
        self._mark = 0

    # ---- events that wait

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> bool:
        """Keep what the patterns can use of the wanted events until it is due; whether a schema statement was among it."""
        admitted, schema = self._conclusions.admit(intake, wanted, self._ticks())
        for local in self._locals:
            admitted = _passing(admitted, local)
        if len(admitted):
            self._waiting.append(admitted)
        self._number = intake.number + intake.batch.events
        return schema

    def mark(self) -> None:
        """What is taken after this can be given back."""
        self._mark = self._number
        self._memories.commit()

    def undo(self) -> None:
        """Give back what was taken after the mark, and what was matched of it in an instant that is open."""
        kept = [part.take(part.source[:, EVENT] < self._mark) for part in self._waiting]
        self._waiting = [part for part in kept if len(part)]
        self._number = self._mark
        self._memories.undo()

    # ---- steps

    def steps(self, until: int | None, *, keep: bool) -> Iterator[Found]:
        """The matches of all that ends by an instant (None: of all), in order; `keep` where the last instant is still open.
        Their refs hold until the next is asked for."""
        due = in_parts(self._due(until), CHUNK // 2)
        if keep:
            self._memories.open()
        for part in due:
            end = part.when[:, END]
            first = 0
            while first < len(part):
                last = min(first + CHUNK, len(part))
                last = int(np.searchsorted(end, end[last - 1], side="right"))  # an instant is joined as a whole
                found = self._found(self._memories.add(part.part(first, last), self._longest()))
                if found is not None:
                    yield found
                self.release(int(end[last - 1]))
                first = last

    def _due(self, until: int | None) -> list[Admitted]:
        every, self._waiting = self._waiting, []
        due: list[Admitted] = []
        for part in every:
            now = np.ones(len(part), np.bool_) if until is None else part.when[:, END] <= until
            if bool(now.all()):
                due.append(part)
                continue
            self._waiting.append(part.take(~now))
            if bool(now.any()):
                due.append(part.take(now))
        return due

    def _longest(self) -> int:
        return int(self._ticks().max(initial=0))

    def _found(self, matches: Int64) -> Found | None:
        if not len(matches):
            return None
        rows, static = self._memories.rows, self._static.columns
        ids, refs = terms_of(matches, self._origins, rows.ids, rows.refs, static.ids, static.refs)
        if self._repeats:
            first = _once(matches, ids)
            matches, ids, refs = matches[first], ids[first], refs[first]
        if self._filters:
            passing = self._passing(matches, ids, refs)
            if not len(passing):
                return None
            matches, ids, refs = matches[passing], ids[passing], refs[passing]
        start, end = spans_of(matches, rows.when)
        return Found(self._plan.names, ids, refs, start, end, self._sightings(matches))

    def _passing(self, matches: Int64, ids: UInt64, refs: Int64) -> Int64:
        rows, static = self._memories.rows, self._static.columns
        number, scale = np.full(ids.shape, np.nan), np.full(ids.shape, NOT_A_NUMBER, np.int8)
        for column, (pattern, position) in enumerate(self._plan.origins):
            if position == 2:
                number[:, column] = _gather(rows.number, static.number, matches[:, pattern])
                scale[:, column] = _gather(rows.scale, static.scale, matches[:, pattern])
        kept, undecided = search_local(self._programs, ids, number, scale)
        for row in np.flatnonzero(undecided).tolist():
            kept[row] = holds_all(self._filters, self._terms(refs[row]), self._context)
        return np.flatnonzero(kept)

    def _terms(self, refs: Int64) -> dict[str, Term]:
        return {name: self._texts.term(ref) for name, ref in zip(self._plan.names, refs.tolist(), strict=True)}

    def _sightings(self, matches: Int64) -> Sightings:
        rows = self._memories.rows
        first, occurrence, row = sightings_of(matches, self._memories.more, rows.when, rows.source, not self._whole)
        when, source, refs = rows.when[row], rows.source[row], rows.refs[row]
        return Sightings(
            first, source[:, EVENT], refs[:, NAME], source[:, STREAM], when[:, START], when[:, END], occurrence, refs[:, :3]
        )

    # ---- what has left its window, and how much there is

    def release(self, instant: int) -> None:
        """Time has come so far: let go of what no match that ends later can use."""
        self._memories.release(instant)

    def state_rows(self) -> Mapping[str, int]:
        """Occurrences and how often they stand in patterns, and occurrences that wait."""
        occurrences, entries = self._memories.counted()
        return {"occurrences": occurrences, "pattern entries": entries, "waiting": sum(map(len, self._waiting))}

    def live_events(self) -> Int64:
        """The events that a later match may show."""
        self._memories.sweep()
        return np.unique(np.concatenate([self._memories.events(), *(part.source[:, EVENT] for part in self._waiting)]))

    def swap_refs(self) -> Iterator[Int64]:
        """The refs that it holds, to be exchanged in place."""
        self._memories.sweep()
        yield self._memories.rows.refs[: self._memories.size]
        for part in self._waiting:
            yield part.refs


def _at(column: int | None) -> Place | None:
    return None if column is None else (ROW, column, column)


def _gather(streamed: NDArray[np.generic], static: NDArray[np.generic], place: Int64) -> NDArray[np.generic]:
    if bool((place >= 0).all()):
        return streamed[place]
    known = place < 0
    found = streamed[np.where(known, 0, place)]
    found[known] = static[-1 - place[known]]
    return found


def _once(matches: Int64, ids: UInt64) -> Int64:
    """Which matches are there for the first time: a match is its mapping and its set of occurrences. Repeated ones are found
    together, since all of them have the same newest occurrence and an instant is joined as a whole."""
    occurrences = np.sort(np.where(matches < 0, -1, matches), axis=1)  # what is static is no occurrence
    again = occurrences[:, 1:] == occurrences[:, :-1]
    occurrences[:, 1:][again] = -1
    occurrences.sort(axis=1)
    _, first = np.unique(np.concatenate([occurrences.view(np.uint64), ids], axis=1), axis=0, return_index=True)
    return np.sort(first)


def _locals(core: Core, key: TermKey) -> Iterator[_Local]:
    for number, triple in enumerate(core.triples):
        nodes = (triple.subject, triple.predicate, triple.object)
        place = {node.name: i for i, node in enumerate(nodes) if isinstance(node, Variable)}
        own: list[Expression] = [c for c in core.filters if (names := mentioned_variables(c)) and names <= place.keys()]
        if own:
            yield _Local(number, compile_conjuncts(tuple(own), lambda name, _, place=place: _at(place.get(name)), key))  # type: ignore[misc]


def _passing(admitted: Admitted, local: _Local) -> Admitted:
    """Without the rows that fail a pattern's conditions for sure and match no other."""
    bit = np.uint64(1 << local.pattern)
    rows = np.flatnonzero(admitted.feeds & bit)
    if not len(rows):
        return admitted
    number, scale = np.full((len(rows), 3), np.nan), np.full((len(rows), 3), NOT_A_NUMBER, np.int8)
    number[:, 2], scale[:, 2] = admitted.number[rows], admitted.scale[rows]
    kept, undecided = search_local(local.programs, admitted.ids[rows], number, scale)
    failing = rows[~(kept | undecided)]
    if not len(failing):
        return admitted
    admitted.feeds[failing] &= ~bit
    return admitted.take(admitted.feeds != 0)
