"""What lowering gives: the program, and what the outside must know of the query's text."""

from __future__ import annotations

from dataclasses import dataclass

from scepter.algebra.query import Program, Stream
from scepter.errors import Diagnostic, Severity, Source, Span, nearest, option_error
from scepter.rdf.terms import IRI

TITLES = {"ep-sparql": "EP-SPARQL", "spaseq": "SPAseq", "obep": "OBEP", "rsep-ql": "RSEP-QL", "sparkwave": "Sparkwave"}


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A background graph that a query names, and where."""

    iri: IRI
    span: Span


def dialect_note(construct: str, reading: str, span: Span) -> Diagnostic:
    """The note that says what a dialect's words were read as."""
    return Diagnostic("dialect", f"{construct}, and read as {reading}", span, severity=Severity.WARNING)


@dataclass(frozen=True, slots=True)
class Word:
    """A `class` or `property` that a query names and an ontology should know, and where."""

    iri: IRI
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Lowered:
    """A checked query: its program, its warnings, and the streams and background graphs it names."""

    program: Program
    language: str
    source: Source
    warnings: tuple[Diagnostic, ...] = ()
    graphs: tuple[NamedGraph, ...] = ()
    """The background graphs named by `GRAPH <iri>`, each once."""
    streams: tuple[Stream, ...] = ()
    """The streams named, in order, each IRI once per alias."""
    prefixes: tuple[tuple[str, str], ...] = ()
    every_stream: bool = False
    """Whether it reads every stream that is given."""
    policies: tuple[str, ...] = ()
    """The policies that a run may choose from (`--policy`); none where the query alone says what is selected."""
    takes_evaluate_at: bool = False
    """Whether it is evaluated at instants, which a run may give (`--evaluate-at`)."""
    static: tuple[NamedGraph, ...] = ()
    """The graphs named by `FROM <iri>` of a language whose ontology may hold them: background graphs, unless one is given."""
    variables: tuple[str, ...] = ()
    """The result's columns; none for CONSTRUCT and ASK."""
    constructs: bool = False
    """Whether results are graphs."""
    occurrences: bool = False
    """Whether results are occurrences of events, with their assertions as graphs."""
    asks: bool = False
    """Whether a result is an ASK's."""
    words: tuple[Word, ...] = ()
    """The classes and properties that descriptions of events use."""
    names: tuple[str | None, ...] = (None,)
    """What each query is called (REGISTER), by its number in matches."""
    versions: tuple[IRI, ...] = ()
    """Of its streams, those of the versions of graphs that vary."""
    languages: tuple[str, ...] = ()
    """The languages of the queries that were put together; empty for one file."""

    @property
    def title(self) -> str:
        """The name of its language as people write it."""
        return " and ".join(TITLES[language] for language in self.languages or (self.language,))

    def speaks(self, language: str) -> bool:
        """Whether one of its queries is written in a language."""
        return language in (self.languages or (self.language,))

    @property
    def derived(self) -> frozenset[IRI]:
        """The streams that units of the file construct (INTO STREAM)."""
        return frozenset(unit.into for unit in self.program.units if unit.into is not None)

    @property
    def inputs(self) -> tuple[IRI, ...]:
        """The streams that must be given from outside, in the order named."""
        return tuple(iri for iri in dict.fromkeys(s.iri for s in self.streams) if iri not in self.derived)

    def stream(self, name: str) -> IRI:
        """The stream that a person means by its IRI (with or without `<>`), its alias, or its prefixed name.

        Raises OptionError `unknown-stream` or `ambiguous-stream`.
        """
        bare = name[1:-1] if name.startswith("<") and name.endswith(">") else name
        iris = {s.iri.value: s.iri for s in self.streams}
        if bare in iris:
            return iris[bare]
        aliased = {s.iri for s in self.streams if s.alias == name}
        if len(aliased) > 1:
            both = " and ".join(sorted(str(iri) for iri in aliased))
            raise option_error("ambiguous-stream", f"the alias {name} names {both}", help="give the stream by its IRI")
        if aliased:
            return aliased.pop()
        prefix, colon, local = name.partition(":")
        expanded = dict(self.prefixes).get(prefix, "") + local
        if colon and expanded in iris:
            return iris[expanded]
        if self.every_stream:
            return IRI(expanded if colon and prefix in dict(self.prefixes) else bare)
        aliases = [s.alias for s in self.streams if s.alias is not None]
        close = nearest(name, [*iris, *aliases])
        listed = ", ".join(f"{s.alias} <{s.iri.value}>" if s.alias else f"<{s.iri.value}>" for s in self.streams)
        advice = f"did you mean {close}?" if close else f"its streams are {listed}" if listed else "it names no stream"
        raise option_error("unknown-stream", f"the query names no stream {name}", help=advice)
