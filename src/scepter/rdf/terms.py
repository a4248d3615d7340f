"""RDF 1.1 terms, and their N-Triples text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
PROV = "http://www.w3.org/ns/prov#"
STRING = XSD + "string"
LANG_STRING = RDF + "langString"
TYPE = RDF + "type"

# Predeclared wherever a person writes terms: case files, EP-SPARQL queries, the timeline notation (spec/60-cases).
WELL_KNOWN_PREFIXES = {"xsd": XSD, "rdf": RDF, "rdfs": RDFS, "owl": OWL, "prov": PROV}

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_TO_ESCAPE = re.compile(r'["\\\n\r\t\x08\x0c\x00-\x1f\x7f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_IRI_BODY = r"""(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*"""
_NOT_IN_IRI = re.compile(r'[<>"{}|^`\\\x00-\x20]')
_IRI = re.compile(rf"<({_IRI_BODY})>\Z")
# N-Triples' BLANK_NODE_LABEL, its Unicode ranges taken together as word characters.
_BLANK_NODE = re.compile(r"_:([\w:](?:[\w:.\-\u00B7\u203F\u2040]*[\w:\-\u00B7\u203F\u2040])?)\Z")
_LITERAL = re.compile(rf'"([^"\\\n\r]*(?:\\.[^"\\\n\r]*)*)"(?:\^\^<({_IRI_BODY})>|@([A-Za-z]+(?:-[A-Za-z0-9]+)*))?\Z')


@dataclass(frozen=True, slots=True)
class IRI:
    """An absolute IRI.

    >>> print(IRI("http://example/a"))
    <http://example/a>
    """

    value: str

    def __hash__(self) -> int:
        return hash(self.value)  # which the string remembers; terms are hashed wherever solutions meet

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node; its label means something only within one event or one static file.

    >>> print(BlankNode("b0"))
    _:b0
    """

    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal: lexical form, datatype IRI, and language tag (lower case) for rdf:langString.

    >>> print(Literal("5", XSD + "integer"), Literal("five"))
    "5"^^<http://www.w3.org/2001/XMLSchema#integer> "five"
    """

    lexical: str
    datatype: str = STRING
    language: str | None = None

    def __hash__(self) -> int:
        return hash(self.lexical)

    def __str__(self) -> str:
        quoted = f'"{escape(self.lexical)}"'
        if self.language is not None:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == STRING else f"{quoted}^^<{self.datatype}>"


Term: TypeAlias = IRI | BlankNode | Literal


class Triple(NamedTuple):
    """Subject, predicate, object."""

    subject: Term
    predicate: Term
    object: Term


def escape(text: str) -> str:
    r"""N-Triples canonical escapes.

    >>> escape('a"b')
    'a\\"b'
    """
    return _TO_ESCAPE.sub(lambda m: _SHORT.get(m.group()) or f"\\u{ord(m.group()):04X}", text)


def unescape(text: str) -> str:
    """Undo string escapes. Raises ValueError on an unknown escape or a lone surrogate."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    short, long, single = match.groups()
    if single is not None:
        if single not in _ESCAPES:
            raise ValueError(f"\\{single} is no escape")
        return _ESCAPES[single]
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"{match.group()} is no character")
    return chr(code)


def parse_term(text: str) -> Term:
    """A term from its N-Triples text, the inverse of `str`.

    >>> parse_term('"5"^^<http://www.w3.org/2001/XMLSchema#integer>').lexical
    '5'

    Raises ValueError on any other text. (Whether an IRI is absolute is left to who knows the base.)
    """
    if match := _IRI.match(text):
        return IRI(_unescaped_iri(match.group(1)))
    if match := _BLANK_NODE.match(text):
        return BlankNode(match.group(1))
    if match := _LITERAL.match(text):
        lexical, datatype, language = match.groups()
        if language is not None:
            return Literal(unescape(lexical), LANG_STRING, language.lower())
        return Literal(unescape(lexical), STRING if datatype is None else _unescaped_iri(datatype))
    raise ValueError(f"{text if len(text) <= 100 else text[:99] + '…'!r} is no term in N-Triples form")


def _unescaped_iri(text: str) -> str:
    """An escape may not smuggle in what no IRI has: its own N-Triples text would not be read again."""
    iri = unescape(text)
    if iri is not text and _NOT_IN_IRI.search(iri):
        raise ValueError(f"<{text}> escapes a character that no IRI has")
    return iri
