"""How much one input may ask of its reader, checked before a parser is called: nesting, sizes, what entities expand to.

A parser that recurses ends the process where its stack ends, and nobody can catch that. So what is too deep or too large is
refused from its bytes alone, in time linear in them. A document that is refused is a dead letter; static data is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from scepter.errors import nearest, option_error

_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE: Final = re.compile(r"\s*([0-9]{1,15})\s*(?:([kmg])(?:i?b)?|b)?\s*\Z", re.IGNORECASE | re.ASCII)
_DEEPEST: Final = 1_000
"""The stack of a thread holds a JSON-LD document of a few thousand levels; to read it takes time quadratic in them."""


class BeyondLimit(ValueError):
    """An input that is refused: which limit, and by how much."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of one input. Sizes are in bytes.

    >>> ReadLimits.of({"depth": "20", "literal": "1 MB"}).literal
    1048576
    """

    depth: int = 200
    """Levels of nesting: objects and arrays of JSON-LD, brackets of Turtle and TriG, elements of RDF/XML."""
    literal: int = 16 << 20
    """One string of a document; one line of N-Quads or N-Triples."""
    event: int = 64 << 20
    """The text of one event."""
    document: int = 512 << 20
    """A document that is read as a whole (TriG, JSON-LD, timeline), once unpacked."""
    expansion: int = 1 << 20
    """What the entities of an RDF/XML document stand for, all references together."""
    letters: int = 1_000
    """Dead letters of one source and reason that are written whole; more are counted."""

    @classmethod
    def of(cls, given: Mapping[str, int | str]) -> ReadLimits:
        """Limits as a person writes them, `{"depth": 50, "literal": "1 MB"}`; raises OptionError."""
        known = [field.name for field in fields(cls)]
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise option_error("limit", f"limits are numbers by name, not {given!r}", help="{'depth': 50}")
        found: dict[str, int] = {}
        for name, value in given.items():
            if name not in known:
                close = nearest(name, known)
                hint = f"did you mean {close}? " if close else ""
                raise option_error("limit", f"there is no limit {name!r}", help=f"{hint}the limits are {', '.join(known)}")
            found[name] = _amount(name, value)
        if found.get("depth", 0) > _DEEPEST:
            raise option_error(
                "limit", f"--limit depth={found['depth']} is more than a parser bears", help=f"at most {_DEEPEST}"
            )
        return cls(**found)

    def told(self) -> str:
        """As `--limit` takes them, one after the other: what another process is given."""
        return ",".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))

    @classmethod
    def read(cls, text: str) -> ReadLimits:
        """The limits of `told`."""
        return cls.of(dict(split_limit(part) for part in text.split(",") if part.strip()))


DEFAULT: Final = ReadLimits()


def split_limit(text: str) -> tuple[str, str]:
    """`NAME=VALUE` in two; OptionError if it is none."""
    name, separator, value = text.partition("=")
    if not separator:
        raise option_error("limit", f"--limit {text} is not of the form NAME=VALUE", help="write for example --limit depth=50")
    return name.strip(), value


def _amount(name: str, value: int | str) -> int:
    match = _SIZE.match(str(value))
    amount = int(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0
    if not 0 < amount < 2**62:
        raise option_error(
            "limit", f"--limit {name}={value} is no number or size", help="write a number above zero, or a size such as 64 MB"
        )
    return amount


def check_json(data: bytes, limits: ReadLimits) -> None:
    """Refuse JSON-LD that is nested too deep or has too long a string."""
    _check_strings(_JSON_OPAQUE, data, limits)
    if _opened(data) > limits.depth:
        _check_depth(_JSON_OPAQUE.sub(b"", data), limits)


def loads(text: bytes, limits: ReadLimits) -> Any:
    """What a text of JSON holds; ValueError if it is none, or nested too deep.

    >>> loads(b"[[1]]", ReadLimits())
    [[1]]
    """
    if len(text) > limits.depth:  # each level takes a byte
        check_json(text, limits)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BeyondLimit(str(error)) from None


def check_turtle(data: bytes, limits: ReadLimits) -> None:
    """Refuse Turtle, TriG, N3 (and their line formats) that is nested too deep or has too long a string."""
    _check_strings(_TURTLE_OPAQUE, data, limits)
    if _opened(data) > limits.depth:
        _check_depth(_TURTLE_OPAQUE.sub(b"", data), limits)


def check_xml(data: bytes, limits: ReadLimits) -> None:
    """Refuse RDF/XML that is nested too deep, has too long a text, or whose entities expand to too much."""
    expanded = _expansion(data, limits.expansion)
    if expanded > limits.expansion:
        raise BeyondLimit(f"entities that expand to more than {limits.expansion} bytes (limit expansion)")
    depth = last = 0
    for tag in _XML_TAG.finditer(data):
        if tag.start() - last > limits.literal or len(tag[0]) > limits.literal:
            raise BeyondLimit(f"a text of more than {limits.literal} bytes (limit literal)")
        last = tag.end()
        text = tag[0]
        if text.startswith(b"</"):
            depth -= 1
        elif text[1:2] not in b"!?" and not text.endswith(b"/>"):
            depth += 1
            if depth > limits.depth:
                raise BeyondLimit(f"more than {limits.depth} levels of nesting (limit depth)")


# Possessive, and with the end of the text as an end of each token: linear, whatever is left open.
_JSON_OPAQUE: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)', re.DOTALL)
# The groups of long strings are not possessive: Python 3.11.2 gets a lookahead inside one wrong. Nothing behind them can fail,
# so that they never go back.
_TURTLE_OPAQUE: Final = re.compile(
    rb'<[^<>"{}|^`\\\x00-\x20]*+>'
    rb'|"""(?:[^"\\]++|\\.|"(?!""))*(?:"""|\Z|\\\Z)'
    rb"|'''(?:[^'\\]++|\\.|'(?!''))*(?:'''|\Z|\\\Z)"
    rb'|"(?:[^"\\\r\n]++|\\.)*+"?|\'(?:[^\'\\\r\n]++|\\.)*+\'?|#[^\r\n]*+|\\.',
    re.DOTALL,
)
_XML_TAG: Final = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<(?:[^<>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+>?",
    re.DOTALL,
)
_ENTITY: Final = re.compile(rb"<!ENTITY\s+(?:%\s+)?([^\s\"'>&;]{1,1000})\s+(?:\"([^\"]*+)\"|'([^']*+)')")
_REFERENCE: Final = re.compile(rb"&([^\s#&;<>\"']{1,1000});")
_PASSES: Final = 64
_STEPS: Final = np.zeros(256, np.int8)
_STEPS[list(b"([{")] = 1
_STEPS[list(b")]}")] = -1


def _opened(data: bytes) -> int:
    return sum(data.count(bracket) for bracket in (b"(", b"[", b"{"))


def _check_depth(plain: bytes, limits: ReadLimits) -> None:
    if _opened(plain) <= limits.depth:
        return
    depth = 0
    for at in range(0, len(plain), 1 << 20):
        steps = _STEPS[np.frombuffer(plain, np.uint8, min(1 << 20, len(plain) - at), at)].astype(np.int64)
        levels = depth + np.cumsum(steps)
        if int(levels.max()) > limits.depth:
            raise BeyondLimit(f"more than {limits.depth} levels of nesting (limit depth)")
        depth = int(levels[-1])


def _check_strings(opaque: re.Pattern[bytes], data: bytes, limits: ReadLimits) -> None:
    if len(data) <= limits.literal:
        return
    if any(found.end() - found.start() - 2 > limits.literal for found in opaque.finditer(data)):
        raise BeyondLimit(f"a string of more than {limits.literal} bytes (limit literal)")


def _expansion(data: bytes, limit: int) -> int:
    """How long the text is that the references of an XML document stand for, at least `limit` + 1 if it is longer."""
    declared = {found[1]: found[2] or found[3] or b"" for found in _ENTITY.finditer(data)}
    if not declared:
        return 0
    sizes = dict.fromkeys(declared, 0)
    for _ in range(_PASSES):
        before = dict(sizes)
        for name, text in declared.items():
            sizes[name] = min(limit + 1, len(text) + sum(_references(text, sizes)))
        if sizes == before or max(sizes.values()) > limit:
            break
    else:
        return limit + 1  # they stand for each other in a circle, or nearly so
    total = 0
    for size in _references(_ENTITY.sub(b"", data), sizes):
        total += size
        if total > limit:
            break
    return max(total, max(sizes.values()))


def _references(text: bytes, sizes: Mapping[bytes, int]) -> Iterator[int]:
    return (sizes.get(found[1], 0) for found in _REFERENCE.finditer(text))
