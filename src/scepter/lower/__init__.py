"""Syntax tree to algebra, one module per language: the only place that knows both."""

from __future__ import annotations

from collections.abc import Callable

from scepter.errors import QueryError, Source
from scepter.lower.epsparql import lower_epsparql
from scepter.lower.obep import lower_obep
from scepter.lower.result import Lowered, NamedGraph
from scepter.lower.rsepql import lower_rsepql
from scepter.lower.sparkwave import lower_sparkwave
from scepter.lower.spaseq import lower_spaseq
from scepter.syntax.parse import (
    LANGUAGES,
    detect_language,
    known_language,
    parse_epsparql,
    parse_obep,
    parse_rsepql,
    parse_sparkwave,
    parse_spaseq,
)

__all__ = ["LANGUAGES", "Lowered", "NamedGraph", "lower"]


def _sparkwave(source: Source) -> Lowered:
    return lower_sparkwave(parse_sparkwave(source.text, source.name), source)


def _spaseq(source: Source) -> Lowered:
    return lower_spaseq(parse_spaseq(source.text, source.name), source)


def _obep(source: Source) -> Lowered:
    return lower_obep(parse_obep(source.text, source.name), source)


def _rsepql(source: Source) -> Lowered:
    return lower_rsepql(parse_rsepql(source.text, source.name), source)


def _epsparql(source: Source) -> Lowered:
    return lower_epsparql(parse_epsparql(source.text, source.name), source)


_LOWERINGS: dict[str, Callable[[Source], Lowered]] = {
    "ep-sparql": _epsparql,
    "spaseq": _spaseq,
    "obep": _obep,
    "rsep-ql": _rsepql,
    "sparkwave": _sparkwave,
}


def lower(text: str, language: str | None = None, name: str = "<query>") -> Lowered:
    """Parse and check a query: its program, or a QueryError that says what is wrong and where.

    >>> text = "SELECT ?x WITHIN 5 FROM STREAM S <http://example/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
    >>> lower(text).program.queries[0].streams[0].alias
    'S'
    """
    chosen = detect_language(text, name) if language is None else known_language(language)
    source = Source(name, text)
    try:
        return _LOWERINGS[chosen](source)
    except QueryError as error:
        raise QueryError(error.diagnostic, source) from None
