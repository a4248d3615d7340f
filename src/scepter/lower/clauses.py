"""The clauses of a SPAseq query: its streams and its window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from scepter.algebra.query import Counting, Sliding, Stream, Tumbling, Window
from scepter.errors import QueryError, nearest, query_error
from scepter.rdf.terms import IRI
from scepter.syntax import spaseq_tree as syntax
from scepter.timeline import MAX_INSTANT, parse_duration

C = TypeVar("C", syntax.WithinClause, syntax.PartitionClause, syntax.IntoStream, syntax.SkipClause, syntax.TimeoutClause)

_NAMES = {
    syntax.WithinClause: "WITHIN",
    syntax.PartitionClause: "PARTITION BY",
    syntax.IntoStream: "INTO STREAM",
    syntax.SkipClause: "AFTER MATCH SKIP",
    syntax.TimeoutClause: "ON TIMEOUT",
}


def clause_of(query: syntax.SpaseqQuery, kind: type[C]) -> C | None:
    """The clause of a kind; a query has one at most."""
    found = [c for c in query.clauses if isinstance(c, kind)]
    if len(found) > 1:
        raise query_error("duplicate-clause", f"{_NAMES[kind]} stands twice in the query", found[1].span)
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Streamset:
    """The streams of a query."""

    streams: tuple[Stream, ...]

    @classmethod
    def of(cls, query: syntax.SpaseqQuery) -> Streamset:
        """The streams of the FROM STREAM clauses, each IRI and each alias once."""
        streams: list[Stream] = []
        for clause in query.clauses:
            if not isinstance(clause, syntax.FromStream):
                continue
            for known in streams:
                if clause.alias is not None and clause.alias == known.alias:
                    message = f"the alias {clause.alias} is given to two streams"
                    raise query_error("duplicate-stream", message, clause.alias_span, help="give one of them another alias")
                if clause.stream.iri == known.iri:
                    message = f"the stream {clause.stream.iri} is declared twice"
                    advice = f"use {known.alias} for it everywhere" if known.alias else None
                    raise query_error("duplicate-stream", message, clause.stream.span, help=advice)
            streams.append(Stream(clause.stream.iri, clause.alias, clause.span))
        return cls(tuple(streams))

    def of_definition(self, definition: syntax.Definition) -> IRI:
        """The stream that a GPM is defined on."""
        for stream in self.streams:
            if definition.stream in (stream.alias, stream.iri):
                return stream.iri
        raise self._unknown(definition)

    def _unknown(self, definition: syntax.Definition) -> QueryError:
        named = definition.stream
        aliases = [s.alias for s in self.streams if s.alias is not None]
        close = nearest(named, aliases) if isinstance(named, str) else None
        if close:
            advice = f"did you mean {close}?"
        elif isinstance(named, IRI):
            advice = f"add FROM STREAM {named}"
        else:
            advice = (
                f"add FROM STREAM {named} <…>, or use one of {', '.join(aliases)}"
                if aliases
                else f"add FROM STREAM {named} <…>"
            )
        message = f"GPM {definition.name} is defined on {named}, which no FROM STREAM declares"
        return query_error("unknown-stream", message, definition.stream_span, help=advice)


def lower_window(clause: syntax.WithinClause) -> Window:
    """The window of WITHIN."""
    text = clause.amount.removeprefix("+")
    if text.startswith("-"):
        raise _not_positive(clause)
    if clause.events:
        count = int(text) if len(text) < 19 else MAX_INSTANT
        if count == 0:
            raise _not_positive(clause)
        return Counting(count, clause.span)
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise query_error("duration", str(error), clause.amount_span) from None
    if duration.amount <= 0:
        raise _not_positive(clause)
    return Sliding(duration, clause.span) if clause.sliding else Tumbling(duration, clause.span)


def _not_positive(clause: syntax.WithinClause) -> QueryError:
    what = "a number of events" if clause.events else "a duration"
    return query_error("duration", f"WITHIN {clause.amount}: {what} must be above zero", clause.amount_span)
