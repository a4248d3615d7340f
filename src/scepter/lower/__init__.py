"""Syntax tree to algebra, one module per language: the only place that knows both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module

from scepter.errors import QueryError, Source
from scepter.lower.functions import unknown_functions
from scepter.lower.result import Lowered, NamedGraph
from scepter.syntax import parse
from scepter.syntax.parse import LANGUAGES, detect_language, known_language

__all__ = ["LANGUAGES", "Lowered", "NamedGraph", "lower"]


def _lowered(language: str, source: Source) -> Lowered:
    """Parse and lower with the modules of the language, which are loaded now."""
    name = language.replace("-", "")
    document = getattr(parse, f"parse_{name}")(source.text, source.name)
    lowered: Lowered = getattr(import_module(f"scepter.lower.{name}"), f"lower_{name}")(document, source)
    return replace(lowered, warnings=(*lowered.warnings, *unknown_functions(document)))


def lower(text: str, language: str | None = None, name: str = "<query>", defined: Iterable[Source] = ()) -> Lowered:
    """Parse and check a query: its program, or a QueryError that says what is wrong and where. `defined` are files of
    definitions that it may use as if they stood before it.

    >>> text = "SELECT ?x WITHIN 5 FROM STREAM S <http://example/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
    >>> lower(text).program.units[0].streams[0].alias
    'S'
    """
    chosen = detect_language(text, name) if language is None else known_language(language)
    source = Source(name, text)
    if chosen == "obep" and (before := tuple(defined)):
        source = Source.joined([*before, source])
    try:
        return _lowered(chosen, source)
    except QueryError as error:
        raise QueryError(error.diagnostic, source) from None
