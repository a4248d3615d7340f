"""A mapping as a value: what YARRRML and RML are read to, and what is compiled to columns.

The words are RML-Core's: a triples map makes triples of the rows of its logical source by term maps, each of which is a
constant, a reference to a field, or a template with references. What makes events of rows stands beside it (`EventSection`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from scepter.rdf.terms import Term


class TermType(Enum):
    """What kind of term a map makes."""

    IRI = "IRI"
    BLANK_NODE = "blank node"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class Reference:
    """A field of the row: a column's name, or a path into a JSON document."""

    name: str


Part: TypeAlias = str | Reference
"""A part of a template: text as it stands, or the value of a field."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A term map that makes the same term of every row."""

    term: Term


@dataclass(frozen=True, slots=True)
class Made:
    """A term map that makes a term of a row's fields; no term where one of them is empty."""

    parts: tuple[Part, ...]
    type: TermType
    escaped: bool = False
    """Whether values are percent-encoded: those of templates of IRIs are, those of references are not."""
    datatype: str | None = None
    language: str | None = None
    base: str | None = None
    """What its relative IRIs stand behind, where that is not the mapping's base."""

    @property
    def references(self) -> tuple[str, ...]:
        """The fields it needs, in order."""
        return tuple(part.name for part in self.parts if isinstance(part, Reference))

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else f"$({part.name})" for part in self.parts)


@dataclass(frozen=True, slots=True)
class FreshBlankNode:
    """A blank node of its own for every row."""

    number: int


TermMap: TypeAlias = Constant | Made | FreshBlankNode


@dataclass(frozen=True, slots=True)
class TriplesMap:
    """The triples of a row about one subject; `graphs` name the graphs they stand in, none for the default graph."""

    name: str
    subject: TermMap
    objects: tuple[tuple[TermMap, TermMap], ...]
    graphs: tuple[TermMap, ...] = ()
    iterator: str | None = None
    """The path to the rows within a JSON document."""
    object_graphs: tuple[tuple[TermMap, ...], ...] = ()
    """Graphs of single predicate-object pairs, besides `graphs`; empty, or one tuple for each pair."""

    def graphs_of(self, pair: int) -> tuple[TermMap, ...]:
        """The graphs of a predicate-object pair."""
        own = self.object_graphs[pair] if self.object_graphs else ()
        return tuple(dict.fromkeys((*self.graphs, *own)))


@dataclass(frozen=True, slots=True)
class EventSection:
    """What makes events of rows: where the time stands and how it is written, and what names an event.

    Rows that stand together and have one name are one event; without a name each row is one.
    """

    time: Made
    end: Made | None = None
    event: TermMap | None = None
    format: str | None = None
    unit: str | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Hint:
    """What a mapping says of its source: how it is written, and where it stands."""

    access: str | None = None
    formulation: str | None = None
    """csv, tsv, json, parquet, …; None if the mapping does not say."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """All of a mapping file."""

    name: str
    maps: tuple[TriplesMap, ...]
    events: EventSection | None = None
    hint: Hint = Hint()
    base: str | None = None
    text: str = ""
    """As it was written: what is sent to workers by name."""

    @property
    def iterators(self) -> tuple[str | None, ...]:
        """The paths to rows that its triples maps have."""
        return tuple(dict.fromkeys(each.iterator for each in self.maps))

    def term_maps(self) -> Iterator[TermMap]:
        """Every term map, those of the events too."""
        for each in self.maps:
            yield each.subject
            yield from each.graphs
            for pair in each.objects:
                yield from pair
            for graphs in each.object_graphs:
                yield from graphs
        if self.events is not None:
            yield from (part for part in (self.events.time, self.events.end, self.events.event) if part is not None)

    @property
    def references(self) -> tuple[str, ...]:
        """Every field it uses, each once, in order."""
        return tuple(dict.fromkeys(name for each in self.term_maps() if isinstance(each, Made) for name in each.references))
