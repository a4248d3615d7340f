"""Text to syntax tree, and which language a text is written in."""

from __future__ import annotations

import re
from typing import Any

from lark.exceptions import UnexpectedInput, VisitError

from scepter.errors import QueryError, Source, option_error, query_error
from scepter.syntax.build import SparqlBuilder
from scepter.syntax.expected import syntax_error
from scepter.syntax.grammar import parser, refuse_deep
from scepter.syntax.spaseq import SpaseqBuilder
from scepter.syntax.spaseq_tree import SpaseqDocument

LANGUAGES = ("ep-sparql", "spaseq", "obep", "rsep-ql", "sparkwave")
"""The five languages, by the names the command line uses."""

_EXTENSIONS = {
    ".epsparql": "ep-sparql",
    ".spaseq": "spaseq",
    ".obep": "obep",
    ".rsepql": "rsep-ql",
    ".sparkwave": "sparkwave",
}

# What only one language writes, looked for in a text without its comments, strings and IRIs; the first that is found decides.
_DISTINCTIVE = (
    ("spaseq", r"\bGPM\b|\bWHERE\s*\{?\s*SEQ\s*\("),
    ("rsep-ql", r"\bFROM\s+NAMED\s+(?:WINDOW\b|\S+\s+(?:ON\s+\S+\s+)?WIN\b)|\bREGISTER\s+[IRD]STREAM\b|\bEVENT\s+ON\b"),
    ("obep", r"\bRETURN\b.*\bAS\s+(?:RDF|EVENT)\s+STREAM\b|\bNAMED\s+EVENT\b|\bEVENT\s+\S+\s+(?:AS|MATCH|subClassOf)\b"),
    ("sparkwave", r"\bREGISTER\s+QUERY\b|\bFROM\s+STREAM\b[^[{]*\[\s*RANGE\b|\bTIMEWINDOW\b"),
    # Every SPARQL query is an EP-SPARQL query (spec/20-ep-sparql rule 13).
    ("ep-sparql", r"\b(?:SELECT|CONSTRUCT|ASK)\b.*\{"),
)
_NOISE = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(<[^<>\"{}|^`\\\s]*>)|#[^\n]*")


def parse_spaseq(text: str, name: str = "<query>") -> SpaseqDocument:
    """The syntax tree of a SPAseq file.

    >>> text = "ASK FROM STREAM S <http://example/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?a ?b ?c } }"
    >>> parse_spaseq(text).queries[0].definitions[0].name
    'A'

    Raises QueryError with the place and what was expected there.
    """
    document: SpaseqDocument = _parse("spaseq", SpaseqBuilder, Source(name, text))
    return document


def _parse(language: str, builder: type[SparqlBuilder], source: Source) -> Any:
    grammar = parser(language)
    try:
        parsed = grammar.parse(source.text)
        refuse_deep(parsed)
        return builder(source.text).transform(parsed)
    except UnexpectedInput as error:
        raise syntax_error(error, source, grammar) from None
    except VisitError as error:
        if not isinstance(error.orig_exc, QueryError):
            raise
        raise QueryError(error.orig_exc.diagnostic, source) from None
    except QueryError as error:
        raise QueryError(error.diagnostic, source) from None


def detect_language(text: str, filename: str | None = None) -> str:
    """Which of the five languages a query is written in: by the file's extension, then by words that only one of them has.

    >>> detect_language("", "power.spaseq")
    'spaseq'
    """
    for extension, language in _EXTENSIONS.items():
        if filename is not None and filename.lower().endswith(extension):
            return language
    bare = _NOISE.sub(lambda m: "<>" if m.group(1) else " ", text)
    for language, words in _DISTINCTIVE:
        if re.search(words, bare, re.IGNORECASE | re.DOTALL):
            return language
    raise QueryError(
        query_error(
            "unknown-language",
            f"cannot tell which language this query is written in: it is none of {', '.join(LANGUAGES)} by its words",
            help="name the language with --language, or give the file the extension " + " ".join(_EXTENSIONS),
        ).diagnostic,
        Source(filename or "<query>", text),
    )


def known_language(language: str) -> str:
    """The language of that name, in any case; OptionError `unknown-language` if there is none."""
    if language.lower() in LANGUAGES:
        return language.lower()
    raise option_error("unknown-language", f"{language!r} is no language; the languages are {', '.join(LANGUAGES)}")
