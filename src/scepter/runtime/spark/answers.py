"""Result tables back on the driver, as matches in order: what the command line writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

from scepter.algebra.query import Program
from scepter.algebra.timed import TimedProgram
from scepter.errors import DataError, Diagnostic, OptionError, option_error
from scepter.physical.planning.pattern_properties import is_ordered
from scepter.rdf.terms import IRI, LANG_STRING, STRING, BlankNode, Literal, Term, Triple, parse_term
from scepter.runtime.matches import Match, RankedMatch, sorted_matches
from scepter.runtime.queries import Query
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

AT_ONCE: Final = 100_000
"""Rows that the driver holds at a time."""
_TOLD: Final = re.compile(
    r"scepter\.errors\.\w+: error\[(?P<code>[\w-]+)\]: (?P<message>.+)(?:\nnote: (?P<note>.+))?(?:\nhelp: (?P<help>.+))?"
)

ANEW: Final = "start anew with another --checkpoint and another --output"
_DAMAGES: Final = (
    "CANNOT_LOAD_STATE_STORE", "CANNOT_READ_STREAMING_STATE", "FAILED_TO_READ_STREAMING_STATE", "BATCH_METADATA_NOT_FOUND",
    "STATE_STORE_", "Incomplete log file", "Malformed log file",
)  # fmt: skip
"""What Spark says when a part of a checkpoint is missing or torn."""


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
    def start(self) -> NDArray[np.int64]:
        """The start of the one row."""
        return np.array(self.times[:1], np.int64)

    @property
    def end(self) -> NDArray[np.int64]:
        """The end of the one row."""
        return np.array(self.times[1:], np.int64)

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
    """The matches of a bounded run in order of end, start and bindings, or as the query says, never all of them in the driver's
    memory."""
    ordering = ordering_queries(query.program)
    keys = ["c2"] if ordering else ["c2", "c1"]  # a query that orders its rows does so whenever they start
    with faults_told():
        kept = _plain(found).withColumn("place", F.monotonically_increasing_id()).persist(StorageLevel.DISK_ONLY)
        try:
            count = kept.count()
            parts = count // AT_ONCE + 1
            spread = kept.coalesce(1) if parts == 1 else kept.repartitionByRange(parts, *keys)
            rows = spread.sortWithinPartitions(*keys, "c0").toLocalIterator()
            matches = (_placed(row, query, kind_of(found), ordering) for row in rows)
            for _, tied in groupby(matches, key=lambda match: (match.end, None if ordering else match.start)):
                yield from sorted_matches(tied)
        finally:
            kept.unpersist()


def ordering_queries(program: Program) -> frozenset[int]:
    """The numbers of the queries that order the rows of one end themselves (ORDER BY).

    >>> from scepter.runtime.queries import parse
    >>> ordering_queries(parse("SELECT ?x WHERE { ?x ?p ?o } ORDER BY ?o", "ep-sparql").program)
    frozenset({0})
    """
    units = ([query.pattern for query in unit.queries] if isinstance(unit, TimedProgram) else [None] for unit in program.units)
    return frozenset(number for number, pattern in enumerate(chain(*units)) if pattern is not None and is_ordered(pattern))


def batch_answers(found: DataFrame, query: Query) -> Sequence[Match]:
    """The matches of one micro-batch, in order. The table is evaluated once: what it reads is state."""
    ordering = ordering_queries(query.program)
    rows = _plain(found).collect()
    return sorted_matches(_placed([*row, place], query, kind_of(found), ordering) for place, row in enumerate(rows))


def _placed(row: Sequence[Any], query: Query, kind: TimeKind, ordering: frozenset[int]) -> Match:
    """A row with its place in the table. The task that wrote it has put the rows of an end in order."""
    *cells, place = row
    return answer_of(cells, query, kind, place if cells[0] in ordering else None)


def _plain(found: DataFrame) -> DataFrame:
    """Columns by number, since a variable may be called `end`; times as integers, whatever the session's time zone is."""
    numbered = found.toDF(*(f"c{i}" for i in range(len(found.columns))))
    if kind_of(found) is TimeKind.INTEGER:
        return numbered
    return numbered.withColumns({name: F.unix_micros(name) for name in ("c1", "c2")})


def kind_of(found: DataFrame) -> TimeKind:
    """The kind of a result table's times."""
    return TimeKind.INTEGER if isinstance(found.schema.fields[1].dataType, LongType) else TimeKind.DATETIME


def answer_of(row: Sequence[Any], query: Query, kind: TimeKind, place: int | None = None) -> Match:
    """A row of a result table as the match it was, at its place where the query has given it one."""
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
    return Match(answer, 0) if place is None else RankedMatch(answer, 0, place)


@contextmanager
def faults_told(checkpoint: str | None = None) -> Iterator[None]:
    """What a worker found wrong with the data, or Spark with its checkpoint, as an error; other faults of Spark as they are."""
    try:
        yield
    except PySparkException as error:
        found = _TOLD.search(str(error))
        if found is not None:
            notes = () if found["note"] is None else (found["note"].strip(),)
            raise DataError(Diagnostic(found["code"], found["message"].strip(), None, found["help"], notes)) from None
        if checkpoint is not None and any(mark in str(error) for mark in _DAMAGES):
            raise damaged(checkpoint, f"Spark says {_first_words(str(error))}") from error
        raise


def damaged(checkpoint: str, what: str, anew: str = ANEW) -> OptionError:
    """The error of a checkpoint that is not whole."""
    return option_error(
        "checkpoint-damaged",
        f"{checkpoint} is damaged: {what}",
        notes=("the output stays as it is",),
        help=f"give back the whole folder as it was, or {anew}",
    )


def _first_words(text: str) -> str:
    """The part of a long trace that says what is wrong."""
    told = next((line for line in text.splitlines() if any(mark in line for mark in _DAMAGES)), text.splitlines()[0])
    return told.strip(" :")[:300]
