"""The query of a command: read, parsed, its warnings told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scepter.cli.inputs import in_doubt, read_query, tell_warnings
from scepter.errors import QueryError, Source, option_error, query_error
from scepter.lower.together import called
from scepter.runtime.queries import Query, combined, parse
from scepter.syntax.parse import parse_obep


def load_query(path: Path, language: str | None, define: Sequence[Path] = ()) -> Query:
    """The query of a file; its warnings go to stderr. `define` are files of definitions that it may use. Raises QueryError or
    OptionError."""
    text = read_query(path)
    try:
        query = parse(text, language, str(path), definitions(define))
    except QueryError as error:
        raise in_doubt(error, language, path, text) from None
    tell_warnings(query.warnings, query.lowered.source)
    return query


def load_queries(paths: Sequence[Path], language: str | None, define: Sequence[Path] = ()) -> Query:
    """The queries of some files, as one that is all of them; each is called by its file."""
    queries = [load_query(path, language, define) for path in paths]
    if define and not any(query.lowered.speaks("obep") for query in queries):
        title = queries[0].lowered.title
        raise option_error(
            "option-not-for-language", f"{title} takes no --define: OBEP alone defines events", help="leave out --define"
        )
    return combined(dict(zip(called([str(path) for path in paths]), queries, strict=True)))


def definitions(paths: Sequence[Path]) -> list[Source]:
    """Files of OBEP definitions, which return nothing themselves."""
    found = []
    for path in paths:
        source = Source(str(path), read_query(path))
        written = parse_obep(source.text, source.name)
        if written.returns:
            raise QueryError(
                query_error(
                    "returns",
                    "a file of definitions returns nothing: RETURN stands in the query that uses them",
                    written.returns[0].span,
                    help="move RETURN to the query, or name this file as a query",
                ).diagnostic,
                source,
            )
        found.append(source)
    return found
