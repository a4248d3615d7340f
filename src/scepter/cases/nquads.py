"""The events of a case as a stream file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scepter.rdf.terms import PROV, XSD
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.timeline import TimeKind, format_instant


def case_nquads(events: Iterable[TimelineEvent]) -> str:
    """N-Quads of the events, each named by a blank node, its time line first."""
    return "".join(line for event in events for line in _lines(event))


def _lines(event: TimelineEvent) -> Iterator[str]:
    name = f"_:{event.name}"
    if event.start == event.end:
        yield f"{name} <{PROV}generatedAtTime> {_literal(event.start, event.kind)} .\n"
    else:
        yield f"{name} <{PROV}startedAtTime> {_literal(event.start, event.kind)} .\n"
        yield f"{name} <{PROV}endedAtTime> {_literal(event.end, event.kind)} .\n"
    for subject, predicate, object in event.triples:
        yield f"{subject} {predicate} {object} {name} .\n"


def _literal(instant: int, kind: TimeKind) -> str:
    return f'"{format_instant(instant, kind)}"^^<{XSD}{"integer" if kind is TimeKind.INTEGER else "dateTime"}>'
