"""Bounded input through the engine in this process: sources merged in order of time, no JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from scepter.compiled import remember
from scepter.errors import Diagnostic, QueryError
from scepter.physical.nodes.event_nodes import Contradictions
from scepter.physical.nodes.nodes import nodes
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import term_id
from scepter.rdf.looking_ahead import Asked, LookedAhead, Room
from scepter.rdf.source import DeadLetterTaker, EventSource, Survey
from scepter.rdf.terms import IRI
from scepter.rdf.untimed import Untimed, no_times
from scepter.runtime import refusals
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.jumps import Jumps, Leap
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions, check_taken
from scepter.runtime.queries import Query
from scepter.runtime.work import STEP_EVENTS, Clock, Pace, check_matches, check_runs
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

KEPT_BYTES = 100 << 20
"""What is kept of streams that were read to look ahead: longer ones are read twice."""


class Observer(Protocol):
    """Hears what a run reads."""

    def surveyed(self, surveys: Mapping[str, Survey]) -> None:
        """What the look ahead told of each stream."""

    def taken(self, stream: str, batch: EventBatch, wanted: NDArray[np.bool_], number: int) -> None:
        """A batch of a stream is about to be taken; its first event has this number, and those not wanted are late."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    done: int
    total: int
    triples: int
    matches: int
    state: Callable[[], Mapping[str, int]] = dict
    """Counts the rows of state, for whoever asks."""


class Given(TypedDict, total=False):
    """What a run may be given besides its query and its streams."""

    background: BackgroundGiven
    ontology: OntologyGiven
    options: RunOptions
    dead_letter: DeadLetterTaker
    progress: Callable[[Progress], None] | None
    observer: Observer | None
    shown: Callable[[int, str | None], object] | None
    warn: Callable[[Diagnostic], None]
    counting: Callable[[LocalEngine], None] | None
    named: bool


def run_local(query: Query, streams: Mapping[str, EventSource], **given: Unpack[Given]) -> Iterator[Match]:
    """The matches of a query over bounded sources, in order of end, start and bindings: those of `run_in_parts`, one by one."""
    return chain.from_iterable(run_in_parts(query, streams, **given))


def run_in_parts(
    query: Query,
    streams: Mapping[str, EventSource],
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    dead_letter: DeadLetterTaker = lambda letter: None,
    progress: Callable[[Progress], None] | None = None,
    observer: Observer | None = None,
    shown: Callable[[int, str | None], object] | None = None,
    warn: Callable[[Diagnostic], None] = lambda diagnostic: None,
    counting: Callable[[LocalEngine], None] | None = None,
    named: bool = True,
) -> Iterator[Sequence[Match]]:
    """The matches of a query over bounded sources, in order of end, start and bindings, as many at a time as become certain
    together: so they stay in columns for whoever writes them.

    The sources are surveyed first, so that input in any order needs memory for its disorder only. `shown` says what matches
    show for an event, by its number and name; `warn` takes what may be wrong with the query, given its ontology. With
    `counting`, operators count what they do, and it is given the engine, which tells. Not `named`: nobody will ask
    a match for the names of its events.
    """
    check_taken(options, query.lowered)
    for iri in query.streams:
        if iri not in streams:
            raise missing_stream(query, iri)
    loading = None if progress is None else lambda done, total: progress(Progress(done, total, 0, 0))
    static = load_background(query, background, ontology, loading)
    engine = LocalEngine(
        query.program, options, static, ontology=load_ontology(query, ontology), shown=shown, dead_letter=dead_letter,
        counting=counting is not None,
    )  # fmt: skip
    engine.reading.named = named or _tells_events(engine)
    if counting is not None:
        counting(engine)
    for warning in engine.doubtful(query.lowered):
        warn(warning)
    untimed = Untimed(dead_letter)
    inputs = open_inputs(query, streams, engine, options, untimed)
    engine.look_at([i.source.head for i in inputs if i.source.head is not None])
    if observer is not None:
        observer.surveyed({i.iri: i.survey for i in inputs})
    return _timed(_run(query, engine, inputs, progress, observer), inputs, options, untimed)


def _tells_events(engine: LocalEngine) -> bool:
    """Whether events that cannot be used are called by their names."""
    return any(isinstance(node, Contradictions) for unit in engine.plan.units for node in nodes(unit.root))


def _timed(
    matches: Iterator[Sequence[Match]], inputs: list[Input], options: RunOptions, untimed: Untimed
) -> Iterator[Sequence[Match]]:
    """The matches; an error where there were events and none of them had a time, once their dead letters are told."""
    yield from matches
    if untimed.events and not any(i.survey.events for i in inputs):
        raise no_times([file for i in inputs for file in i.source.files], options.times, untimed.why)
    remember()


def open_inputs(
    query: Query,
    streams: Mapping[str, EventSource],
    engine: LocalEngine,
    options: RunOptions,
    dead_letter: DeadLetterTaker,
    *,
    prune: bool = True,
) -> list[Input]:
    """The sources that a query reads, surveyed, ready to be read for an engine; with `prune`, only what it can use of them."""
    used = {iri: source for iri, source in streams.items() if query.lowered.every_stream or iri in query.streams}
    predicates = engine.predicates if prune else None
    wanted = None if predicates is None else frozenset(term_id(engine.key, str(p)) for p in predicates)
    room = Room(KEPT_BYTES)
    read = {}
    changing = {iri.value for iri in query.lowered.versions}
    for iri, source in used.items():
        number = engine.stream_number(IRI(iri))
        if iri in changing:
            engine.reading.whole.add(number)
        read[iri] = LookedAhead(source, Asked(engine.key, number, wanted, engine.reading), room)
    kind = engine.reading.kind
    # without a usable event the sources are read all the same: their dead letters are still to be told
    delay = None if kind is None else options.delay_on(kind)
    advance = None if kind is None else options.advance_on(kind)
    return [Input(iri, source, delay, dead_letter, None if advance is None else Jumps(advance)) for iri, source in read.items()]


def missing_stream(query: Query, iri: str) -> QueryError:
    """The error for a stream that the query names and nobody gave."""
    stream = next(s for s in query.lowered.streams if s.iri.value == iri)
    name = stream.alias or f"<{iri}>"
    return QueryError(
        Diagnostic(
            "missing-stream",
            f"the query reads stream {name}, and none was given",
            stream.span,
            f"add --stream {stream.alias or iri}=SOURCE, in Python {{{stream.alias or iri!r}: …}} to streams",
        ),
        query.lowered.source,
    )


@dataclass(slots=True)
class Input:
    """One source, read batch by batch; `complete` is the time up to which all its events have been read."""

    iri: str
    source: LookedAhead
    delay: int | None
    dead_letter: DeadLetterTaker
    jumps: Jumps[tuple[EventBatch, int]] | None = None
    greatest: int = MIN_INSTANT
    complete: int = MIN_INSTANT
    done: int = 0
    batches: Iterator[EventBatch] = field(init=False)
    confirmed: list[tuple[EventBatch, NDArray[np.bool_]]] = field(default_factory=list)
    """Events of earlier batches that were held back, and are now to be taken."""
    leap: Leap = field(default_factory=Leap)

    def __post_init__(self) -> None:
        self.batches = self.source.batches(self.dead_letter, self._tell)

    @property
    def survey(self) -> Survey:
        """What the look ahead told."""
        return self.source.survey

    def _tell(self, done: int, total: int) -> None:
        self.done = done

    def read(self) -> tuple[EventBatch, NDArray[np.bool_]] | None:
        """The next batch and which of its events are not late; None at the end."""
        batch = next(self.batches, None)
        if batch is None:
            self.complete = MAX_INSTANT
            self._refuse(self.jumps.held if self.jumps is not None else [])
            return None
        held = self._held(batch)
        ends = np.where(held, self.greatest, batch.end)
        peaks = np.maximum.accumulate(np.maximum(ends, self.greatest))
        late = np.zeros(batch.events, np.bool_) if self.delay is None else (batch.end < peaks - self.delay) & ~held
        self.leap.seen(ends[~held], late[~held], self.iri, batch.kind)
        self.greatest = max([self.greatest, int(peaks[-1]), *(int(b.end[w].max()) for b, w in self.confirmed)])
        allowed = self.survey.disorder if self.delay is None else min(self.delay, self.survey.disorder)
        # an event at the very edge may still come
        self.complete = self.greatest - allowed - 1
        for event in np.flatnonzero(late):
            watermark = int(peaks[event]) - (self.delay or 0)
            self.dead_letter(DeadLetter(self.iri, None, refusals.late(int(batch.end[event]), watermark, batch.kind)))
        return batch, ~late & ~held

    def _held(self, batch: EventBatch) -> NDArray[np.bool_]:
        """Which events of a batch wait for others to confirm that time moves on so far."""
        held = np.zeros(batch.events, np.bool_)
        self.confirmed = []
        if self.jumps is None or self.jumps.calm(batch.end):
            return held
        held[:] = True
        for event, end in enumerate(batch.end.tolist()):
            for where, index in self.jumps.admit(end, (batch, event)):
                if where is batch:
                    held[index] = False
                else:
                    self.confirmed.append((where, np.arange(where.events) == index))
        self._refuse(self.jumps.dropped)
        self.jumps.dropped = []
        return held

    def _refuse(self, events: Sequence[tuple[int, tuple[EventBatch, int]]]) -> None:
        for end, (batch, _) in events:
            assert self.jumps is not None
            self.dead_letter(DeadLetter(self.iri, None, refusals.unconfirmed(end, self.jumps.limit, batch.kind)))


def _run(
    query: Query,
    engine: LocalEngine,
    inputs: list[Input],
    progress: Callable[[Progress], None] | None,
    observer: Observer | None,
) -> Iterator[Sequence[Match]]:
    total = sum(i.survey.bytes for i in inputs)
    triples = matches = 0
    reached = MIN_INSTANT
    work = engine.options.work
    clock, pace = Clock(work), Pace(work, STEP_EVENTS)
    try:
        while any(i.complete < MAX_INSTANT for i in inputs):
            behind = min(inputs, key=lambda i: i.complete)
            read = behind.read()
            if read is not None:
                triples += read[0].triples
                if observer is not None:
                    observer.taken(behind.iri, *read, engine.next_number)
                engine.take(*read)
                for again in behind.confirmed:
                    engine.take(*again)
                for batch, wanted in (read, *behind.confirmed):
                    pace.take(batch.end[wanted])
            complete = min(i.complete for i in inputs)
            clock.check()
            if pace.waiting >= pace.events and reached < complete:
                reached = complete
                for instant in pace.instants(complete):
                    found = engine.advance(instant)
                    matches += len(found)
                    check_matches(matches, work)
                    yield found
                    engine.commit()
                    check_runs(engine.state_size, work)
                pace.wait(engine.state_size().get("runs", 0) / len(query.program.units))
            if progress is not None:
                progress(Progress(sum(i.done for i in inputs), total, triples, matches, engine.state_size))
        found = engine.finish()
        check_matches(matches + len(found), work)
        yield found
    except QueryError as error:
        raise QueryError(error.diagnostic, query.lowered.source) from None
