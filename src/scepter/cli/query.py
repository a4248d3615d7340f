"""The query of a command: read, parsed, its warnings told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scepter.cli.inputs import read_query, tell_warnings
from scepter.errors import QueryError, Source
from scepter.runtime.queries import Query, parse
from scepter.syntax.parse import detect_language


def load_query(path: Path, language: str | None) -> Query:
    """The query of a file; its warnings go to stderr. Raises QueryError or OptionError."""
    text = read_query(path)
    try:
        query = parse(text, language, str(path))
    except QueryError as error:
        raise _doubting(error, language, path, text) from None
    tell_warnings(query.warnings, Source(str(path), text))
    return query


def _doubting(error: QueryError, language: str | None, path: Path, text: str) -> QueryError:
    """The error, with a note where --language is not what the file's name or text says."""
    if language is None:
        return error
    try:
        likely = detect_language(text, str(path))
    except QueryError:
        return error
    if likely == language:
        return error
    note = f"read as {language}, as --language says; {path.name} looks like {likely}"
    return QueryError(replace(error.diagnostic, notes=(*error.diagnostic.notes, note)), error.source)
