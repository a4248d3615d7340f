"""Tasks: the units of a program at work, whatever algebra they are written in.

An engine gives each task events in any order (`take`) and says how far time is known (`release`). A task answers with the
matches that are then certain. `TermEvent` is an event as a person reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.scan.intake import Intake
from scepter.kernel.texts import Texts
from scepter.physical.metrics import Metrics
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.matches import Match


class Task(Protocol):
    """One unit of a program at work."""

    metrics: list[Metrics]
    """What its operators did, by their numbers in the plan; CPU and memory where the run is measured."""

    @property
    def feeds(self) -> IRI | None:
        """The stream it constructs for other units of the program, if one reads it."""
        ...

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Take the wanted events of a batch, in any order of time."""
        ...

    def release(self, until: int, closed: int) -> Sequence[Match]:
        """All events up to `until` have been taken; of those after `closed` more may come at the same time. The matches
        that became certain."""
        ...

    def finish(self) -> Sequence[Match]:
        """The input has ended: all that is left."""
        ...

    def save(self) -> None:
        """Start an instant that may be undone."""
        ...

    def undo(self) -> None:
        """Back to `save`."""
        ...

    def commit(self) -> None:
        """Keep what was done since `save`, and release what no future match can use."""
        ...

    def state_rows(self) -> Mapping[str, int]:
        """How much state there is, by kind."""
        ...

    def shed(self, most: int) -> list[str] | None:
        """Let go of every key that keeps more rows of state; what was, None where the whole has to begin anew."""
        ...

    def begin_anew(self, *, waiting: bool) -> None:
        """Forget all that operators keep; with `waiting`, not what waits for instants that are not begun yet."""
        ...

    def live_events(self) -> NDArray[np.int64]:
        """The numbers of events that a later match may still show."""
        ...

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """Each array of text refs the state holds, for the caller to exchange in place."""
        ...


@dataclass(frozen=True, slots=True)
class TermEvent:
    """An event as terms, for whoever shows it."""

    number: int
    name: str | None
    stream: IRI
    start: int
    end: int
    triples: tuple[Triple, ...]


def term_events(intake: Intake, texts: Texts, streams: Sequence[IRI], wanted: NDArray[np.bool_]) -> list[TermEvent]:
    """The wanted events of a batch as terms; a graph is a set, so that repeated triples count once."""
    batch, wholly = intake.batch, bool(wanted.all())
    rows = slice(None) if wholly else np.flatnonzero(np.repeat(wanted, np.diff(batch.first)))
    columns = ((batch.subject_at, batch.subject), (batch.predicate_at, batch.predicate), (batch.object_at, batch.object))
    terms = ([*map(texts.known, (at[rows] + intake.base).tolist(), ids[rows].tolist())] for at, ids in columns)
    triples = map(Triple, *terms)
    events = np.arange(batch.events) if wholly else np.flatnonzero(wanted)
    per_event = (batch.stream, batch.start, batch.end, np.diff(batch.first), intake.names())
    found = []
    for event, *known in zip(events.tolist(), *(column[events].tolist() for column in per_event), strict=True):
        stream, start, end, size, ref = known
        name = None if ref < 0 else texts.term(ref)
        text = name.value if isinstance(name, IRI) else None if name is None else str(name)
        graph = (next(triples),) if size == 1 else tuple(dict.fromkeys(islice(triples, size)))
        found.append(TermEvent(intake.number + event, text, streams[stream], start, end, graph))
    return found
