"""Short runs of EP-SPARQL: a query, a stream in the notation of cases, and what comes out as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import scepter
from scepter.rdf.terms import IRI, Literal, Term
from scepter.rdf.timeline_notation import parse_timeline
from scepter.timeline import format_instant

EX = "http://example/"
STREAM = EX + "s"
PREFIX = "PREFIX : <http://example/>\n"
PREFIXES = {"": EX, "xsd": "http://www.w3.org/2001/XMLSchema#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
TURTLE = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())


def shown(term: Term) -> str:
    match term:
        case IRI(value):
            return value.replace(EX, ":")
        case Literal(lexical):
            return lexical
        case _:
            return "_"


def line(match: scepter.Match) -> str:
    """`1..5 v=3 x=:a`, `1..5 {:a :p 1}`, `1..5 true`."""
    interval = "..".join(str(format_instant(time, match.kind)) for time in (match.start, match.end))
    if match.graph is not None:
        triples = " . ".join(" ".join(map(shown, triple)) for triple in match.graph)
        return f"{interval} {{{triples}}}"
    if match.boolean is not None:
        return f"{interval} true"
    return " ".join((interval, *(f"{name}={shown(term)}" for name, term in sorted(match.bindings.items()))))


def events(stream: str, name: str = STREAM) -> list[scepter.Event]:
    found = parse_timeline(stream, PREFIXES)
    return [
        scepter.Event(name, e.triples, *(str(format_instant(time, e.kind)) for time in (e.start, e.end))) for e in found
    ]  # fmt: skip


def engine(query: str, *, background: str | Mapping[str, str] = "", ontology: str = "", **options: Any) -> scepter.Engine:
    graphs = {None: background} if isinstance(background, str) else {name or None: text for name, text in background.items()}
    static = {name: f"{TURTLE}{text}\n" for name, text in graphs.items()}
    schema = f"{TURTLE}{ontology}\n" if ontology else None
    return scepter.Engine(scepter.parse(PREFIX + query, "ep-sparql"), background=static, ontology=schema, **options)


def answers(query: str, stream: str, **given: Any) -> list[str]:
    """What the query answers over the stream, pushed event by event."""
    running = engine(query, **given)
    found = [match for event in events(stream) for match in running.push(event)]
    return [line(match) for match in found + running.close()]
