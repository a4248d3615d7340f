"""Text to syntax tree, and which language a text is written in."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput, VisitError

from scepter.errors import Diagnostic, QueryError, Source, Span, nearest, option_error, query_error
from scepter.syntax.expected import stands_for_a_verb, syntax_error
from scepter.syntax.grammar import parser, refuse_deep

if TYPE_CHECKING:
    from scepter.syntax.build import SparqlBuilder
    from scepter.syntax.epsparql_tree import EpsparqlDocument
    from scepter.syntax.obep_tree import ObepDocument
    from scepter.syntax.rsepql_tree import RsepqlDocument
    from scepter.syntax.sparkwave_tree import SparkwaveDocument
    from scepter.syntax.spaseq_tree import SpaseqDocument

LANGUAGES = ("ep-sparql", "spaseq", "obep", "rsep-ql", "sparkwave")
"""The five languages, by the names the command line uses."""

LONGEST = 1_000_000
"""Characters of a query: reading takes time linear in them, some tens of microseconds each."""
_EXTENSIONS = {
    ".epsparql": "ep-sparql",
    ".spaseq": "spaseq",
    ".obep": "obep",
    ".rsepql": "rsep-ql",
    ".sparkwave": "sparkwave",
}

# What only one language writes, looked for in a text without its comments, strings and IRIs and with single spaces; the first
# that is found decides. No two repetitions stand side by side: a hostile text is read in linear time.
_DISTINCTIVE = (
    ("spaseq", r"\bGPM\b|\bWHERE ?\{? ?SEQ ?\("),
    ("rsep-ql", r"(?<!FROM )\bSTREAM \S+ ?\[ ?(?:RANGE|NOW|TRIPLES|ALL)\b"),
    ("rsep-ql", r"\bFROM NAMED (?:WINDOW\b|\S+ (?:ON \S+ )?WIN\b)|\bREGISTER [IRD]STREAM\b|\bEVENT ON\b"),
    ("obep", r"\bAS (?:RDF|EVENT) STREAM\b|\bNAMED EVENT\b|\bEVENT \S+ (?:AS|MATCH|subClassOf)\b"),
    ("sparkwave", r"\bREGISTER QUERY\b|\bFROM STREAM <> ?\[ ?RANGE\b|\bFROM STREAM \S+ ?\[ ?RANGE\b|\bTIMEWINDOW\b"),
)
_NOISE = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(<[^<>\"{}|^`\\\s]*>)|#[^\n]*")


def parse_spaseq(text: str, name: str = "<query>") -> SpaseqDocument:
    """The syntax tree of a SPAseq file.

    >>> text = "ASK FROM STREAM S <http://example/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?a ?b ?c } }"
    >>> parse_spaseq(text).queries[0].definitions[0].name
    'A'

    Raises QueryError with the place and what was expected there.
    """
    document: SpaseqDocument = _parse("spaseq", Source(name, text))
    return document


def parse_obep(text: str, name: str = "<query>") -> ObepDocument:
    """The syntax tree of an OBEP file.

    >>> text = "PREFIX : <http://example/> EVENT H AS (Room and armedWith some Sensor) RETURN H AS RDF STREAM"
    >>> parse_obep(text).definitions[0].name.text
    'H'

    Raises QueryError with the place and what was expected there.
    """
    document: ObepDocument = _parse("obep", Source(name, text))
    return document


def parse_epsparql(text: str, name: str = "<query>") -> EpsparqlDocument:
    """The syntax tree of an EP-SPARQL file.

    >>> parse_epsparql("ASK { { ?a ?b ?c } SEQ { ?d ?e ?f } }").queries[0].group.elements[0].links[0][0].word
    'SEQ'

    Raises QueryError with the place and what was expected there.
    """
    document: EpsparqlDocument = _parse("epsparql", Source(name, text))
    return document


def parse_rsepql(text: str, name: str = "<query>") -> RsepqlDocument:
    """The syntax tree of an RSEP-QL file.

    >>> parse_rsepql("ASK FROM NAMED <http://e/s> WIN [RANGE 5] AS <http://e/w> {}").queries[0].clauses[0].extent.width
    '5'
    """
    document: RsepqlDocument = _parse("rsepql", Source(name, text))
    return document


def parse_sparkwave(text: str, name: str = "<query>") -> SparkwaveDocument:
    """The syntax tree of a Sparkwave file.

    >>> parse_sparkwave("ASK FROM STREAM <http://e/s> [RANGE 5s] { ?a ?b ?c }").queries[0].sources[0].window.range.text
    '5 s'

    Raises QueryError with the place and what was expected there.
    """
    document: SparkwaveDocument = _parse("sparkwave", Source(name, text))
    return document


def _parse(language: str, source: Source) -> Any:
    # a language is loaded when a query is written in it: five syntax trees would cost more than checking a query
    builder: type[SparqlBuilder] = getattr(import_module(f"scepter.syntax.{language}"), f"{language.capitalize()}Builder")
    if len(source.text) > LONGEST:
        message = f"the query has {len(source.text):,} characters, and {LONGEST:,} is the most"
        raise QueryError(Diagnostic("too-long", message, Span(LONGEST, LONGEST + 1), "write less, or several queries"), source)
    try:
        parsed = _parsed(language, source)
        refuse_deep(parsed)
        return builder(source.text).transform(parsed)
    except VisitError as error:
        if not isinstance(error.orig_exc, QueryError):
            raise
        raise QueryError(error.orig_exc.diagnostic, source) from None
    except QueryError as error:
        raise QueryError(error.diagnostic, source) from None


def _parsed(language: str, source: Source) -> Tree[Token]:
    """The parse tree. EP-SPARQL with a BASE may have names without prefixes, as its paper prints them."""
    grammar = parser(language)
    try:
        return grammar.parse(source.text)
    except UnexpectedInput as error:
        first = syntax_error(error, source, grammar)
        if language != "epsparql" or not re.search(r"\bBASE\s*<", source.text, re.IGNORECASE):
            raise first from None
        unprefixed = parser("epsparql+unprefixed")
        try:
            return unprefixed.parse(source.text)
        except UnexpectedInput as other:
            # Where the first grammar stumbles over a name, the text has such names, and what is wrong with it comes later.
            raise (syntax_error(other, source, unprefixed) if stands_for_a_verb(error, source, grammar) else first) from None


def detect_language(text: str, filename: str | None = None) -> str:
    """Which of the five languages a query is written in: by the file's extension, then by words that only one of them has.

    >>> detect_language("", "power.spaseq")
    'spaseq'
    """
    for extension, language in _EXTENSIONS.items():
        if filename is not None and filename.lower().endswith(extension):
            return language
    bare = " ".join(_NOISE.sub(lambda m: "<>" if m.group(1) else " ", text).split())
    for language, words in _DISTINCTIVE:
        if re.search(words, bare, re.IGNORECASE):
            return language
    if "{" in bare and re.search(r"\b(?:SELECT|CONSTRUCT|ASK)\b", bare, re.IGNORECASE):
        return "ep-sparql"  # every SPARQL query is an EP-SPARQL query (spec/20-ep-sparql rule 13)
    raise QueryError(
        query_error(
            "unknown-language",
            f"cannot tell which language {filename or 'this query'} is written in: "
            f"it is none of {', '.join(LANGUAGES)} by its words",
            help=_of_a_name(text) or "name the language (--language), or give the file the extension " + " ".join(_EXTENSIONS),
        ).diagnostic,
        Source(filename or "<query>", text),
    )


def _of_a_name(text: str) -> str | None:
    """What to do where the name of a file was given for its text."""
    name = text.strip()
    return f"to read a file, give Path({name!r})" if len(name.split()) == 1 and name.endswith(tuple(_EXTENSIONS)) else None


def known_language(language: str) -> str:
    """The language of that name, in any case; OptionError `unknown-language` if there is none."""
    if language.lower() in LANGUAGES:
        return language.lower()
    close = nearest(language.lower(), LANGUAGES)
    raise option_error(
        "unknown-language", f"{language!r} is no language; the languages are {', '.join(LANGUAGES)}",
        help=None if close is None else f"did you mean {close}?",
    )  # fmt: skip
