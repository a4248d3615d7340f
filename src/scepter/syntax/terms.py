"""Tokens to terms: IRIs with BASE and PREFIX applied, literals with their escapes undone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lark import Token

from scepter.errors import QueryError, Span, nearest, query_error
from scepter.rdf.terms import IRI, LANG_STRING, WELL_KNOWN_PREFIXES, XSD, Literal, unescape
from scepter.syntax.iris import is_absolute, resolve

_LOCAL_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_FORBIDDEN_IN_IRI = re.compile(r'[<>"{}|^`\\\x00-\x20]')
_NUMBERS = {
    "INTEGER": XSD + "integer",
    "DECIMAL": XSD + "decimal",
    "DOUBLE": XSD + "double",
    "SIGNED_INTEGER": XSD + "integer",
    "SIGNED_DECIMAL": XSD + "decimal",
    "SIGNED_DOUBLE": XSD + "double",
}


# The characters of SPARQL's PN_CHARS beyond ASCII.
_BEYOND_ASCII = (
    "\xb7\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)


def check_name(token: Token) -> str:
    """The text of a name, whose characters beyond ASCII must be some that SPARQL allows."""
    if not token.isascii() and (found := re.search(f"[^\x00-\x7f{_BEYOND_ASCII}]", token)):
        at = (token.start_pos or 0) + found.start()
        character = f"{found.group()!r} (U+{ord(found.group()):04X})"
        raise query_error("syntax", f"a name cannot hold {character}", Span(at, at + 1))
    return str(token)


def token_span(token: Token) -> Span:
    """Where a token stands."""
    start = token.start_pos or 0
    return Span(start, token.end_pos if token.end_pos is not None else start + len(token))


@dataclass(slots=True)
class Names:
    """The BASE and the prefixes in force while a text is read from front to back."""

    base: str | None = None
    prefixes: dict[str, str] = field(default_factory=dict)

    def declare_base(self, token: Token) -> None:
        """`BASE <iri>`."""
        self.base = self.reference(token).value

    def declare_prefix(self, name: Token, token: Token) -> None:
        """`PREFIX name: <iri>`; a later declaration of the same prefix replaces it."""
        self.prefixes[check_name(name)[:-1]] = self.reference(token).value

    def iri(self, token: Token) -> IRI:
        """An IRI, written out or by prefix."""
        return self.reference(token) if token.type == "IRIREF" else self._prefixed(token)

    def reference(self, token: Token) -> IRI:
        """An IRI in angle brackets."""
        text = _unescaped(str(token)[1:-1], token)
        if found := _FORBIDDEN_IN_IRI.search(text):
            raise query_error("syntax", f"an IRI cannot hold {found.group()!r}", token_span(token))
        if is_absolute(text):
            return IRI(text)
        if self.base is None:
            raise query_error(
                "relative-iri",
                f"<{text}> is relative, and there is no BASE to resolve it",
                token_span(token),
                help="write the whole IRI, or add BASE <http://…> at the top",
            )
        return IRI(resolve(self.base, text))

    def _prefixed(self, token: Token) -> IRI:
        prefix, _, local = check_name(token).partition(":")
        if prefix not in self.prefixes:
            raise self._unknown_prefix(prefix, token)
        return IRI(self.prefixes[prefix] + _LOCAL_ESCAPE.sub(r"\1", local))

    def _unknown_prefix(self, prefix: str, token: Token) -> QueryError:
        start = token.start_pos or 0
        close = nearest(prefix, self.prefixes)
        if prefix in WELL_KNOWN_PREFIXES:
            advice = f"add PREFIX {prefix}: <{WELL_KNOWN_PREFIXES[prefix]}> at the top"
        elif close:
            advice = f"did you mean {close}: ?"
        else:
            advice = f"add PREFIX {prefix}: <…> at the top"
        span = Span(start, start + len(prefix) + 1)
        return query_error("unknown-prefix", f"the prefix {prefix}: is not declared", span, help=advice)


def number(token: Token) -> Literal:
    """A number with the datatype of its spelling."""
    return Literal(str(token), _NUMBERS[token.type])


def string(token: Token) -> str:
    """The characters of a string token."""
    quotes = 3 if token.type == "LONG_STRING" else 1
    return _unescaped(str(token)[quotes:-quotes], token)


def literal(text: str, suffix: Token | IRI | None) -> Literal:
    """A string with its language tag or datatype."""
    if suffix is None:
        return Literal(text)
    if isinstance(suffix, IRI):
        return Literal(text, suffix.value)
    return Literal(text, LANG_STRING, str(suffix)[1:].lower())


def _unescaped(text: str, token: Token) -> str:
    try:
        return unescape(text)
    except ValueError as error:
        span = token_span(token)
        at = str(token).find(str(error).split(" ", 1)[0])
        start = span.start + max(at, 0)
        raise query_error("syntax", str(error), Span(start, span.end), help="write \\\\ for a backslash") from None
