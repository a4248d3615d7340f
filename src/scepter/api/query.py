"""`scepter.parse` and the query it makes, with what a person does with one. Light to import."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scepter.errors import a_type, option_error
from scepter.runtime import queries

if TYPE_CHECKING:
    from scepter.api.pages import Page
    from scepter.insight.diagnosis.focus import KeyGiven
    from scepter.insight.diagnosis.model import Findings
    from scepter.io.given import Given
    from scepter.runtime.inputs import OntologyGiven
    from scepter.runtime.notebook import Matches


@dataclass(frozen=True, slots=True)
class Query(queries.Query):
    """A query that has been parsed and checked; make one with `scepter.parse`.

    >>> query = parse("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
    >>> query
    <spaseq query <query>: reads <http://e/s>, gives ?x>
    """

    def run(self, streams: Given, **options: Any) -> Matches:
        """The matches over bounded streams, in this process: `scepter.run_local`."""
        from scepter.api.local import run_local

        return run_local(self, streams, **options)

    def explain(
        self,
        format: str = "text",
        ontology: OntologyGiven = None,
        *,
        analyze: Given | None = None,
        spark: Any = None,
        **options: Any,
    ) -> str:
        """The plan as `text`, `mermaid`, `json` or `svg`, with the ontology that the run will be given. With `analyze`, bounded
        streams, the query is run over them in this process, and each operator tells the rows in and out of it, how many it
        kept at most, and its CPU time; `options` are then those of `scepter.run_local`. With `spark` as well, a session, the
        query is run there, over streams as `scepter.run` takes them, and stages and skew are told too. `html` is a page then.

        >>> from scepter import Event
        >>> query = parse("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
        >>> shown = query.explain(analyze=[Event("http://e/s", "<http://e/a> <http://e/p> 2 .", 1)])
        >>> print(shown[shown.index("  #1") :].splitlines()[1].partition(", kept")[0])
          │  rows in 1, out 1
        """
        if analyze is None:
            return queries.Query.explain(self, format, ontology)
        if spark is not None:
            from scepter.api.on_spark import analyze as analyze_on_spark

            return analyze_on_spark(self, spark, analyze, format, ontology=ontology, **options)
        from scepter.api.local import analyze as analyze_run

        return analyze_run(self, analyze, format, ontology=ontology, **options)

    def diagnose(
        self, streams: Given, *, event: str | int | None = None, key: KeyGiven | None = None, **options: Any
    ) -> Findings:
        """Why did nothing match, or so little? Step by step how many events pass each condition, and what stops the longest
        partial matches. With `event` (its name, or its number from 1) or `key` (`{"card": ":c7"}`), how far that comes and its
        nearest misses, whatever else matches. Print it, or look at it in a notebook. Takes the options of `scepter.run_local`.

        >>> from scepter import Event
        >>> query = parse('''PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S <http://e/s>
        ... WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?v FILTER (?v > 3) } }''')
        >>> print(query.diagnose([Event("http://e/s", "<http://e/a> <http://e/p> 2 .", 1)]))
        diagnosis: the one event
        <BLANKLINE>
        spaseq query: 0 matches
          A on S
            on S                                                            1
            graph pattern                                                   1
            FILTER (?v > 3)                                                 0  ◀ nothing passes
              event 1 at 1: was false: 2 > 3, by 1
            partial matches so far                                          0
        """
        from scepter.api.local import diagnose

        return diagnose(self, streams, event=event, key=key, **options)

    def report(self, streams: Given, path: str | Path | None = None, *, diagnosis: bool = True, **options: Any) -> Page:
        """A page about a run: timeline, matches, diagnosis, plan. A notebook shows it; `path` writes it to a file, one HTML
        file that needs no network. Takes the options of `scepter.run_local`, and `event` and `key` as `diagnose` does."""
        from scepter.api.pages import report

        return report(self, streams, path, diagnosis=diagnosis, **options)

    def __repr__(self) -> str:
        reads = ", ".join(f"<{iri}>" for iri in self.streams) or "no stream"
        gives = " ".join(f"?{name}" for name in self.variables) or ("graphs" if self.constructs else "yes")
        return f"<{self.language} query {self.name}: reads {reads}, gives {gives}>"


def parse(text: str | Path, language: str | None = None, name: str | None = None) -> Query:
    """Parse and check a query, given as text or as the Path of a file; raises QueryError with line and column.

    The language is what `language` says, else follows from the file's extension, else from the text.

    >>> query = parse("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
    >>> query.language, query.streams, query.variables
    ('spaseq', ['http://e/s'], ['x'])
    """
    if not isinstance(text, (str, Path)):
        how = "scepter.parse(text), or scepter.parse(Path('q.spaseq'))"
        raise option_error("query", f"a query is text, not {a_type(text)}", help=how)
    if not (language is None or isinstance(language, str)):
        raise option_error("language", f"a language is a name, not {a_type(language)}", help="language='spaseq'")
    if not (name is None or isinstance(name, str)):
        raise option_error("name", f"a query's name is text, not {a_type(name)}", help="name='falls'")
    if isinstance(text, str) and _is_a_file(text):
        raise option_error("query", f"{text!r} is a file's name, not a query", help=f"scepter.parse(Path({text!r}))")
    if isinstance(text, Path):
        name = name or str(text)
        text = queries.read_query(text)
    parsed = queries.parse(text, language, name or "<query>")
    return Query(*(getattr(parsed, field.name) for field in fields(parsed)))


def _is_a_file(text: str) -> bool:
    if not text or len(text) > 500 or any(c in text for c in "{}\n?"):
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
