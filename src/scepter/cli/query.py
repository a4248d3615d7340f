"""The query of a command: read, parsed, its warnings told."""

from __future__ import annotations

from pathlib import Path

from scepter.cli.inputs import in_doubt, read_query, tell_warnings
from scepter.errors import QueryError, Source
from scepter.runtime.queries import Query, parse


def load_query(path: Path, language: str | None) -> Query:
    """The query of a file; its warnings go to stderr. Raises QueryError or OptionError."""
    text = read_query(path)
    try:
        query = parse(text, language, str(path))
    except QueryError as error:
        raise in_doubt(error, language, path, text) from None
    tell_warnings(query.warnings, Source(str(path), text))
    return query
