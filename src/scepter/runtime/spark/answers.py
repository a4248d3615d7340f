"""Result tables back on the driver, as matches in order: what the command line writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

from scepter.errors import DataError, Diagnostic
from scepter.rdf.terms import IRI, LANG_STRING, STRING, BlankNode, Literal, Term, Triple, parse_term
from scepter.runtime.matches import Match, sorted_matches
from scepter.runtime.queries import Query
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

AT_ONCE: Final = 100_000
"""Rows that the driver holds at a time."""
_TOLD: Final = re.compile(r"scepter\.errors\.\w+: error\[(?P<code>[\w-]+)\]: (?P<message>.+)")


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """A row of a result table where a match's values are: a batch of one row (`runtime.matches.Batch`)."""

    query: int
    kind: TimeKind
    times: tuple[int, int]
    variables: Sequence[str]
    cells: Sequence[Any]
    triples: Sequence[Any] | None
    boolean: bool | None
    selected: dict[str, list[str]] | None
    occurred: tuple[str, str] | None = None
    told: str | None = None
    """Why, as JSON."""

    @property
    def start(self) -> list[int]:
        """The start of the one row."""
        return [self.times[0]]

    @property
    def end(self) -> list[int]:
        """The end of the one row."""
        return [self.times[1]]

    @property
    def constructs(self) -> bool:
        """Whether the row is a graph."""
        return self.triples is not None

    @property
    def asks(self) -> bool:
        """Whether the row answers an ASK."""
        return self.boolean is not None

    def bindings(self, row: int) -> dict[str, Term]:
        """Its terms."""
        return {name: term_of(cell) for name, cell in zip(self.variables, self.cells, strict=True) if cell is not None}

    def graph(self, row: int) -> tuple[Triple, ...]:
        """Its graph."""
        return tuple(Triple(*(parse_term(text) for text in triple)) for triple in self.triples or ())

    def events(self, row: int) -> dict[str, list[object]]:
        """The names of the events it selected, by part."""
        return {part: list(names) for part, names in (self.selected or {}).items()}

    def occurrence(self, row: int) -> tuple[IRI, Term] | None:
        """The event and its individual, where the row is an occurrence."""
        if self.occurred is None:
            return None
        event, individual = (parse_term(text) for text in self.occurred)
        assert isinstance(event, IRI)
        return event, individual

    def why(self, row: int) -> Why | None:
        """What the row rests on."""
        return None if self.told is None else Why.read(json.loads(self.told))


def term_of(cell: Sequence[str | None]) -> Term:
    """The term of a struct<type, value, datatype, lang>.

    >>> str(term_of(("literal", "6", "http://www.w3.org/2001/XMLSchema#integer", None)))
    '"6"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    type, value, datatype, language = cell
    if value is None:
        raise ValueError("a term without a value")
    match type:
        case "uri":
            return IRI(value)
        case "bnode":
            return BlankNode(value)
        case _:
            return Literal(value, LANG_STRING, language) if language is not None else Literal(value, datatype or STRING)


def ordered_answers(found: DataFrame, query: Query) -> Iterator[Match]:
    """The matches of a bounded run in order of end, start and bindings, never all of them in the driver's memory."""
    with faults_told():
        kept = _plain(found).persist(StorageLevel.DISK_ONLY)
        try:
            count = kept.count()
            parts = count // AT_ONCE + 1
            spread = kept.coalesce(1) if parts == 1 else kept.repartitionByRange(parts, "c2", "c1")
            rows = spread.sortWithinPartitions("c2", "c1", "c0").toLocalIterator()
            matches = (answer_of(row, query, kind_of(found)) for row in rows)
            for _, tied in groupby(matches, key=lambda match: (match.end, match.start)):
                yield from sorted_matches(tied)
        finally:
            kept.unpersist()


def batch_answers(found: DataFrame, query: Query) -> Sequence[Match]:
    """The matches of one micro-batch, in order. The table is evaluated once: what it reads is state."""
    return sorted_matches(answer_of(row, query, kind_of(found)) for row in _plain(found).collect())


def _plain(found: DataFrame) -> DataFrame:
    """Columns by number, since a variable may be called `end`; times as integers, whatever the session's time zone is."""
    numbered = found.toDF(*(f"c{i}" for i in range(len(found.columns))))
    if kind_of(found) is TimeKind.INTEGER:
        return numbered
    return numbered.withColumns({name: F.unix_micros(name) for name in ("c1", "c2")})


def kind_of(found: DataFrame) -> TimeKind:
    """The kind of a result table's times."""
    return TimeKind.INTEGER if isinstance(found.schema.fields[1].dataType, LongType) else TimeKind.DATETIME


def answer_of(row: Sequence[Any], query: Query, kind: TimeKind) -> Match:
    """A row of a result table as the match it was."""
    number, start, end, *cells, events = row
    variables = query.variables
    rest = cells[len(variables) :]
    triples = rest.pop(0) if query.constructs else None
    boolean = rest.pop(0) if query.asks else None
    occurred = (rest.pop(0), rest.pop(0)) if query.occurrences else None
    occurred = occurred if occurred and occurred[0] is not None else None
    answer = RowAnswer(
        number, kind, (start, end), variables, cells[: len(variables)], triples, boolean, events, occurred,
        rest[0] if rest else None,
    )  # fmt: skip
    return Match(answer, 0)


@contextmanager
def faults_told() -> Iterator[None]:
    """What a worker found wrong with the data, as the error it was there; other faults of Spark as they are."""
    try:
        yield
    except PySparkException as error:
        found = _TOLD.search(str(error))
        if found is None:
            raise
        raise DataError(Diagnostic(found["code"], found["message"].strip())) from None
