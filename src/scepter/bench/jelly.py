"""Events written as Jelly, one frame each: enough of the format to measure its reader, without a library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Final

import pyoxigraph as ox

_NAMES: Final = 4000
_PREFIXES: Final = 150
_DATATYPES: Final = 30
_QUADS, _DATASETS = 2, 4


def _varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


class _Table:
    """A lookup table that forgets its oldest entry."""

    def __init__(self, field: int, size: int) -> None:
        self._field, self._size = field, size
        self._ids: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._count = 0

    def look_up(self, text: str, rows: list[bytes]) -> int:
        """The index of a text; a row that says so goes before, where it is new."""
        if text not in self._ids:
            index = self._count % self._size + 1
            self._count += 1
            self._ids.pop(self._texts.get(index, ""), None)
            self._ids[text], self._texts[index] = index, text
            rows.append(_bytes(self._field, _number(1, index) + _bytes(2, text.encode())))
        return self._ids[text]


class JellyWriter:
    """Writes datasets, a frame each; terms that repeat are left out."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._names, self._prefixes, self._datatypes = _Table(9, _NAMES), _Table(10, _PREFIXES), _Table(11, _DATATYPES)
        self._last: list[object] = [None] * 4
        sizes = _number(9, _NAMES) + _number(10, _PREFIXES) + _number(11, _DATATYPES)
        self._rows = [_bytes(1, _number(2, _QUADS) + sizes + _number(14, _DATASETS) + _number(15, 1))]

    def write(self, quads: Iterable[ox.Quad]) -> None:
        """One frame."""
        rows, self._rows = self._rows, []
        for quad in quads:
            found = b""
            for position, term in enumerate((quad.subject, quad.predicate, quad.object, quad.graph_name)):
                if term != self._last[position]:
                    found += self._term(4 * position, term, rows)
                    self._last[position] = term
            rows.append(_bytes(3, found))
        frame = b"".join(_bytes(1, row) for row in rows)
        self._out.write(_varint(len(frame)) + frame)

    def _term(self, before: int, term: object, rows: list[bytes]) -> bytes:
        match term:
            case ox.NamedNode():
                at = max(term.value.rfind("/"), term.value.rfind("#")) + 1
                prefix = self._prefixes.look_up(term.value[:at], rows)
                return _bytes(before + 1, _number(1, prefix) + _number(2, self._names.look_up(term.value[at:], rows)))
            case ox.BlankNode():
                return _bytes(before + 2, term.value.encode())
            case ox.Literal():
                text = _bytes(1, term.value.encode())
                if term.language is not None:
                    return _bytes(before + 3, text + _bytes(2, term.language.encode()))
                return _bytes(before + 3, text + _number(3, self._datatypes.look_up(term.datatype.value, rows)))
            case ox.DefaultGraph():
                return _bytes(before + 3, b"")
        raise AssertionError(f"{term} is no term of RDF 1.1")
