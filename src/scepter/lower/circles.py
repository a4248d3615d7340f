"""Queries of one file that read each other's streams must not do so in a circle (spec/10-spaseq rule 12)."""

from __future__ import annotations

from scepter.errors import Span, query_error
from scepter.lower.clauses import clause_of
from scepter.rdf.terms import IRI
from scepter.syntax import spaseq_tree as syntax


def refuse_circles(queries: tuple[syntax.SpaseqQuery, ...]) -> None:
    """Raise `circular-streams`, naming the streams, when a query's INTO STREAM comes back to it."""
    into = [clause_of(query, syntax.IntoStream) for query in queries]
    feeds: dict[IRI, set[IRI]] = {}
    for query, clause in zip(queries, into, strict=True):
        if clause is not None:
            for read in (c.stream.iri for c in query.clauses if isinstance(c, syntax.FromStream)):
                feeds.setdefault(read, set()).add(clause.stream.iri)
    for clause in into:
        if clause is not None:
            refuse_circle(clause.stream.iri, clause.stream.span, feeds)


def refuse_circle(stream: IRI, span: Span, feeds: dict[IRI, set[IRI]], whose: str = "this file") -> None:
    """Raise `circular-streams` when what is made of a stream comes back to it; `feeds` are the streams made of each stream."""
    if circle := _way_back(stream, feeds):
        names = " -> ".join(str(iri) for iri in circle)
        raise query_error(
            "circular-streams",
            f"the streams of {whose} feed each other in a circle: {names}",
            span,
            help="let one of the queries write into another stream",
        )


def _way_back(start: IRI, feeds: dict[IRI, set[IRI]]) -> list[IRI] | None:
    """The shortest way from a stream back to itself."""
    ways = [[start]]
    seen: set[IRI] = set()
    for way in ways:  # grows while it is walked: breadth first
        for following in sorted(feeds.get(way[-1], ()), key=lambda iri: iri.value):
            if following == start:
                return [*way, start]
            if following not in seen:
                seen.add(following)
                ways.append([*way, following])
    return None
