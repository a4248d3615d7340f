"""Results as all formats see them, and the order and JSON of a match (spec/00 §3).

Writers take matches one at a time and never reorder them: bounded runs hand them over in the order of `order`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, assert_never

from scepter.rdf.terms import IRI, STRING, BlankNode, Literal, Term, Triple
from scepter.runtime.matches import Match as Matched
from scepter.runtime.why import Why
from scepter.timeline import TimeKind, format_instant


class Match(Protocol):
    """What a writer needs of a match."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102
    @property
    def kind(self) -> TimeKind: ...  # noqa: D102
    @property
    def query(self) -> int: ...  # noqa: D102
    @property
    def bindings(self) -> Mapping[str, Term]: ...  # noqa: D102
    @property
    def events(self) -> Mapping[str, Sequence[object]]: ...  # noqa: D102
    @property
    def graph(self) -> Sequence[Triple] | None: ...  # noqa: D102
    @property
    def boolean(self) -> bool | None: ...  # noqa: D102
    @property
    def occurrence(self) -> tuple[IRI, Term] | None: ...  # noqa: D102
    @property
    def why(self) -> Why | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Shape:
    """What the queries of a file can answer: the SELECTs' variables in order, whether there is a CONSTRUCT, an ASK."""

    variables: tuple[str, ...] = ()
    graphs: bool = False
    booleans: bool = False
    whys: bool = False
    """Whether each match comes with what it rests on."""
    queries: tuple[str | int, ...] = ()
    """What the queries are called, by their numbers; empty where only one answers, and no match need say which."""

    def query(self, match: Match) -> str | int | None:
        """What the query that a match answers is called."""
        return self.queries[match.query] if self.queries else None


class ResultWriter(Protocol):
    """Writes matches in one format."""

    def write(self, match: Match) -> None:
        """Write one match."""

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Write some matches: the same as one after the other, in columns where they are in columns."""

    def close(self) -> None:
        """Write what is still held back."""


JsonValue: TypeAlias = "str | int | bool | list[JsonValue] | dict[str, JsonValue]"


def order(match: Match) -> tuple[int, int, int, list[tuple[str, str]], list[tuple[str, ...]]]:
    """The key by which bounded runs sort: end, start, then the answer itself (spec/00 §3)."""
    bindings = sorted((name, str(term)) for name, term in match.bindings.items())
    return match.end, match.start, match.query, bindings, graph_rows(match.graph or ())


def term_object(term: Term) -> dict[str, JsonValue]:
    """A term as the SPARQL 1.1 Query Results JSON Format writes it.

    >>> term_object(Literal("6", "http://www.w3.org/2001/XMLSchema#integer"))
    {'type': 'literal', 'value': '6', 'datatype': 'http://www.w3.org/2001/XMLSchema#integer'}
    """
    match term:
        case IRI(value):
            return {"type": "uri", "value": value}
        case BlankNode(label):
            return {"type": "bnode", "value": label}
        case Literal(lexical, datatype, language):
            if language is not None:
                return {"type": "literal", "value": lexical, "xml:lang": language}
            if datatype == STRING:
                return {"type": "literal", "value": lexical}
            return {"type": "literal", "value": lexical, "datatype": datatype}
        case _:
            assert_never(term)


def graph_rows(graph: Sequence[Triple]) -> list[tuple[str, ...]]:
    """The triples in N-Triples form, sorted, each once."""
    return sorted({tuple(str(term) for term in triple) for triple in graph})


def record(match: Match, shape: Shape = Shape(), *, events: bool = False) -> dict[str, JsonValue]:  # noqa: B008 - frozen
    """A match as the JSON object of the results format; bindings come in the order of the shape's variables."""
    query = shape.query(match)
    found: dict[str, JsonValue] = {} if query is None else {"query": query}
    found["start"] = format_instant(match.start, match.kind)
    found["end"] = format_instant(match.end, match.kind)
    occurrence, graph = match.occurrence, match.graph  # made anew whenever somebody asks
    if occurrence is not None:
        event, individual = occurrence
        found["event"] = event.value
        found["individual"] = individual.value if isinstance(individual, IRI) else str(individual)
        found["assertions"] = [list(row) for row in graph_rows(graph or ())]
    elif graph is not None:
        found["graph"] = [list(row) for row in graph_rows(graph)]
    elif match.boolean is not None:
        found["boolean"] = match.boolean
    else:
        bindings = match.bindings
        found["bindings"] = {name: term_object(bindings[name]) for name in names_of(bindings, shape.variables)}
    if match.why is not None:
        found["why"] = match.why.record(match.kind)
    if events:
        found["events"] = event_names(match)
    return found


def names_of(bound: Collection[str], variables: Sequence[str]) -> list[str]:
    """Bound names: those of the query in its order, then the others."""
    known = [name for name in variables if name in bound]
    return known + sorted(set(bound) - set(known))


def event_names(match: Match) -> dict[str, JsonValue]:
    """The events that each part selected, by name."""
    return {part: [str(name) for name in names] for part, names in match.events.items()}
