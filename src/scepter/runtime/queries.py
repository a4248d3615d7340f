"""A checked query, as users hold it: what it is called, which streams it reads, its plan. Light to import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from scepter.algebra.events import EventQuery, needs_end
from scepter.algebra.query import Program
from scepter.errors import Diagnostic, QueryError, Source, a_type, option_error
from scepter.lower import Lowered, lower
from scepter.lower.together import called, together
from scepter.optimizer.never import rules_that_never_fire
from scepter.optimizer.optimizer import optimize
from scepter.physical.explain.explain import explain
from scepter.physical.facts import Facts
from scepter.physical.planning.planner import plan
from scepter.rdf.terms import IRI, Triple

if TYPE_CHECKING:
    from scepter.runtime.inputs import OntologyGiven

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """A query that has been parsed and checked; make one with `scepter.parse`."""

    lowered: Lowered
    program: Program
    """Its algebra, optimised."""

    @property
    def language(self) -> str:
        """The language it is written in."""
        return self.lowered.language

    @property
    def text(self) -> str:
        """The query as written."""
        return self.lowered.source.text

    @property
    def name(self) -> str:
        """The file's name, or `<query>`."""
        return self.lowered.source.name

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What may be wrong with it."""
        return self.lowered.warnings

    @property
    def streams(self) -> list[str]:
        """The IRIs of the streams that must be given."""
        return [iri.value for iri in self.lowered.inputs]

    @property
    def graphs(self) -> list[str]:
        """The IRIs of the background graphs it names."""
        return [graph.iri.value for graph in self.lowered.graphs]

    @property
    def variables(self) -> list[str]:
        """The result's columns; none for CONSTRUCT and ASK."""
        return list(self.lowered.variables)

    @property
    def constructs(self) -> bool:
        """Whether its results are graphs."""
        return self.lowered.constructs

    @property
    def occurrences(self) -> bool:
        """Whether its results are occurrences of events (OBEP's EVENT STREAM)."""
        return self.lowered.occurrences

    @property
    def asks(self) -> bool:
        """Whether one of its results is an ASK's."""
        return self.lowered.asks

    @property
    def answers(self) -> tuple[str | int, ...]:
        """What each query of several is called, by the number that matches carry: its name, else its number from 1. Empty
        where only one of them answers: no row need say which."""
        names = self.lowered.names
        feeding = _feeding(self.program)
        if len(names) - len(feeding) < 2:
            return ()
        return tuple(number if name is None else name for number, name in enumerate(names, 1))

    def resolve_stream(self, name: str) -> str:
        """The IRI of the stream a person means by IRI, alias or prefixed name; OptionError for an unknown one."""
        return self.lowered.stream(name).value

    def explain(self, format: str = "text", ontology: OntologyGiven = None) -> str:
        """The plan as `text`, `mermaid`, `json` or `svg`, with the ontology that the run will be given."""
        schema: tuple[Triple, ...] = ()
        if ontology is not None:
            from scepter.runtime.inputs import load_ontology  # which knows this module

            schema = load_ontology(self, ontology)
        made = plan(self.program, Facts(ontology=schema))
        return explain(made, self.language, format, dict(self.lowered.prefixes))

    def _repr_svg_(self) -> str:
        """Its plan, as notebooks show it."""
        return self.explain("svg")


def by_stream(query: Query, given: Mapping[str, T]) -> dict[str, T]:
    """What is given for streams, by their IRIs instead of their names; OptionError for an unknown one, and for one given twice.

    >>> query = parse("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
    >>> by_stream(query, {"S": "events.nq"})
    {'http://e/s': 'events.nq'}
    """
    found: dict[str, T] = {}
    for name, each in given.items():
        if not isinstance(name, str):
            raise option_error("streams", f"{name!r} names no stream", help="write the stream's IRI, or its name in the query")
        iri = query.resolve_stream(name)
        if iri in found:
            raise option_error("stream-twice", f"the stream <{iri}> is given twice", help="give it once")
        found[iri] = each
    return found


def _feeding(program: Program) -> list[IRI]:
    """The streams that one unit constructs and another reads: their graphs are no answers."""
    read = {stream.iri for unit in program.units for stream in unit.streams}
    return [unit.into for unit in program.units if unit.into in read]


def parse(text: str, language: str | None = None, name: str = "<query>", defined: Iterable[Source] = ()) -> Query:
    """Parse and check a query; raises QueryError with line and column. `defined` are files of definitions (OBEP) that it may
    use.

    >>> query = parse("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
    >>> query.language, query.streams, query.variables
    ('spaseq', ['http://e/s'], ['x'])
    """
    return checked(lower(text, language, name, defined))


def checked(lowered: Lowered) -> Query:
    """A query that has been lowered, optimised and planned once, so that what only planning can see is told."""
    try:
        program = optimize(lowered.program)
        plan(program, Facts())
    except QueryError as error:
        raise QueryError(error.diagnostic, lowered.source) from None
    never = tuple(warning for warning in rules_that_never_fire(program) if warning not in lowered.warnings)
    return Query(replace(lowered, warnings=(*lowered.warnings, *never)) if never else lowered, program)


def combined(queries: Mapping[str, Query]) -> Query:
    """Several queries as one, by their names: they see the same streams, and each match says which it answers.

    >>> one = parse("SELECT ?x WHERE { ?x ?p ?o }", "ep-sparql")
    >>> combined({"a": one, "b": one}).answers
    ('a', 'b')
    """
    if len(queries) == 1:
        return next(iter(queries.values()))
    return checked(together({name: query.lowered for name, query in queries.items()}))


def read_query(path: Path) -> str:
    """The text of a query file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise option_error("no-such-file", f"there is no query file {path}") from None
    except IsADirectoryError:
        raise option_error("not-a-file", f"{path} is a folder, not a query file") from None
    except UnicodeDecodeError as error:
        raise option_error("not-utf-8", f"the query file {path} is no UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise option_error("not-readable", f"the query file {path} cannot be read: {error.strerror}") from None


QueriesGiven: TypeAlias = Query | Sequence[Query] | Mapping[str, Query]
"""A query, several of them, or several by their names."""


def one_query(given: object) -> Query:
    """The query that was given; of a list of queries, or of a dictionary by their names, one that is all of them. Refuses what
    is no query, with the way to one."""
    if isinstance(given, Query):
        return given
    if isinstance(given, Mapping) and given:
        return combined({str(name): one_query(query) for name, query in given.items()})
    if isinstance(given, (list, tuple)) and given:
        queries = [one_query(query) for query in given]
        files = all(query.name != "<query>" for query in queries)
        names = called([query.name for query in queries]) if files else [str(number + 1) for number in range(len(queries))]
        return combined(dict(zip(names, queries, strict=True)))
    what = "text" if isinstance(given, str) else a_type(given)
    raise option_error("query", f"the query is given as {what}", help="make one of its text: scepter.parse(text)")


def check_endless(query: Query, *, instants: bool = False) -> None:
    """Refuse a query whose answer is certain only at the end of the input, for input that has none. Where instants of
    evaluation are given, it is certain at each of them."""
    for unit in () if instants else query.program.units:
        if isinstance(unit, EventQuery) and (span := needs_end(unit)) is not None:
            raise QueryError(
                Diagnostic(
                    "needs-an-end",
                    "LAST is certain only at the end of bounded input, and live input has no end",
                    span,
                    "run it over bounded input, say when with --evaluate-at, or leave out LAST",
                ),
                query.lowered.source,
            )
