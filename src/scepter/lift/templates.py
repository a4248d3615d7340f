"""Templates as they are written: `$(field)` in YARRRML, `{field}` in RML."""

from __future__ import annotations

import re
from typing import Final

from scepter.lift.model import Part, Reference

_YARRRML: Final = re.compile(r"\\([\\$()])|\$\(((?:\\.|[^()\\]|\([^()]*\))*)\)")
_RML: Final = re.compile(r"\\([\\{}])|\{((?:\\.|[^{}\\])*)\}")
_BARE: Final = re.compile(r"[{}]")
_PAIR: Final = re.compile(r"\\[\\{}]")
_STRAY: Final = re.compile(r"\\")
_ESCAPED: Final = re.compile(r"\\([\\{}()])")


def yarrrml_template(text: str) -> tuple[Part, ...]:
    """The parts of a YARRRML value.

    >>> yarrrml_template("ex:$(sensor)-$(id)")
    ('ex:', Reference(name='sensor'), '-', Reference(name='id'))
    """
    return _parts(text, _YARRRML)


def rml_template(text: str) -> tuple[Part, ...]:
    r"""The parts of an RML template; a brace that means itself has a backslash before it.

    >>> rml_template(r"http://e/\{{a b}\}")
    ('http://e/{', Reference(name='a b'), '}')
    >>> rml_template("http://e/{{a}}")
    Traceback (most recent call last):
        ...
    ValueError: 'http://e/{{a}}' has a brace by itself; one that is text has a backslash before it
    """
    if _BARE.search(_RML.sub("", text)):
        raise ValueError(f"{text!r} has a brace by itself; one that is text has a backslash before it")
    if _STRAY.search(_PAIR.sub("", text)):
        raise ValueError(f"{text!r} has a backslash before neither a brace nor a backslash; one that is text stands twice")
    return _parts(text, _RML)


def _parts(text: str, written: re.Pattern[str]) -> tuple[Part, ...]:
    """Raises ValueError for a field without a name."""
    parts: list[Part] = []
    plain = ""
    at = 0
    for found in written.finditer(text):
        plain += text[at : found.start()]
        at = found.end()
        if found.group(1) is not None:
            plain += found.group(1)
            continue
        name = _ESCAPED.sub(r"\1", found.group(2))
        if not name.strip():
            raise ValueError(f"{text!r} refers to a field without a name")
        if plain:
            parts.append(plain)
            plain = ""
        parts.append(Reference(name))
    plain += text[at:]
    return (*parts, plain) if plain else tuple(parts)
