"""Terms as `struct<type, value, datatype, lang>` in Arrow, cut out of their texts in columns."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.texts import TextsView, one_ref_each
from scepter.rdf.lexing import BACKSLASH, GREATER, LESS, QUOTE, UNDERSCORE, term_end
from scepter.rdf.terms import IRI, STRING, BlankNode, Literal, Term

TERM: Final = pa.struct([(name, pa.string()) for name in ("type", "value", "datatype", "lang")])
_TYPES: Final = pa.array(["uri", "bnode", "literal"])
_URI, _BNODE, _LITERAL, _OTHER = range(4)
_NOWHERE: Final = -1


def term_struct(term: Term) -> dict[str, str | None]:
    """A term as the struct<type, value, datatype, lang> of result columns."""
    match term:
        case IRI(value):
            return {"type": "uri", "value": value, "datatype": None, "lang": None}
        case BlankNode(label):
            return {"type": "bnode", "value": label, "datatype": None, "lang": None}
        case Literal(lexical, datatype, language):
            return {"type": "literal", "value": lexical, "datatype": None if language else datatype, "lang": language}


def term_structs(ids: UInt64, refs: Int64, texts: TextsView) -> pa.Array:
    """A column of terms, null where the id is 0. Each different term is cut out of its text once."""
    if not len(ids):
        return pa.array([], TERM)
    each, where = one_ref_each(ids, refs)
    bound = np.flatnonzero(each >= 0)
    place = np.full(len(each), len(bound))
    place[bound] = np.arange(len(bound))
    structs = pa.concat_arrays([_structs(each[bound], texts), pa.nulls(1, TERM)])
    return structs.take(pa.array(place[where]))


def _structs(refs: Int64, texts: TextsView) -> pa.Array:
    buffer, places = texts.texts(refs)
    kinds = np.empty(len(refs), np.int8)
    values, datatypes = np.empty((len(refs), 2), np.int64), np.empty((len(refs), 2), np.int64)
    _cut(buffer, places, kinds, values, datatypes)
    types = _TYPES.take(pa.array(np.minimum(kinds, _LITERAL)))
    columns = [types, _strings(buffer, values), _datatypes(buffer, kinds, datatypes), pa.nulls(len(refs), pa.string())]
    found = pa.StructArray.from_arrays(columns, fields=list(TERM))
    others = np.flatnonzero(kinds == _OTHER)
    if not len(others):
        return found
    order = np.arange(len(refs))
    order[others] = len(refs) + np.arange(len(others))
    rest = pa.array([term_struct(texts.term(int(refs[i]), None)) for i in others], TERM)
    return pa.concat_arrays([found, rest]).take(pa.array(order))


def _datatypes(buffer: NDArray[np.uint8], kinds: NDArray[np.int8], spans: Int64) -> pa.Array:
    given = _strings(buffer, spans)
    plain = pa.array((kinds == _LITERAL) & (spans[:, 0] == _NOWHERE))
    return pa.compute.if_else(plain, pa.scalar(STRING), given)


def _strings(buffer: NDArray[np.uint8], spans: Int64) -> pa.Array:
    """The stretches of a buffer as strings; null where there is none."""
    offsets = np.zeros(len(spans) + 1, np.int64)
    np.cumsum(spans[:, 1] - spans[:, 0], out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    _copy(buffer, spans[:, 0], offsets, data)
    valid = pa.array(spans[:, 0] != _NOWHERE).buffers()[1]
    large = pa.LargeStringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(data), valid)
    return large.cast(pa.string())


@njit(cache=True, nogil=True)
def _copy(buffer: Any, starts: Any, offsets: Any, out: Any) -> None:
    for i in range(len(starts)):
        for j in range(offsets[i + 1] - offsets[i]):
            out[offsets[i] + j] = buffer[starts[i] + j]


@njit(cache=True, nogil=True)
def _cut(buffer: Any, places: Any, kinds: Any, values: Any, datatypes: Any) -> None:
    """Where the parts of each term stand. What is written with escapes or has a language is left to the parser."""
    for i in range(len(places)):
        at = places[i]
        end = term_end(buffer, at)
        values[i, 0] = values[i, 1] = datatypes[i, 0] = datatypes[i, 1] = _NOWHERE
        escaped = False
        for j in range(at, end):
            escaped |= buffer[j] == BACKSLASH
        last = buffer[end - 1]
        if escaped or (buffer[at] == QUOTE and last != QUOTE and last != GREATER):
            kinds[i] = _OTHER
        elif buffer[at] == LESS:
            kinds[i], values[i, 0], values[i, 1] = _URI, at + 1, end - 1
        elif buffer[at] == UNDERSCORE:
            kinds[i], values[i, 0], values[i, 1] = _BNODE, at + 2, end
        else:
            quote = end - 1
            while buffer[quote] != QUOTE:  # no datatype has one
                quote -= 1
            kinds[i], values[i, 0], values[i, 1] = _LITERAL, at + 1, quote
            if last == GREATER:
                datatypes[i, 0], datatypes[i, 1] = quote + 4, end - 1  # behind "^^<
