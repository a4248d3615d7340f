"""Term maps over rows: columns of terms, each with its id, its text's place, its number, and the row it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from scepter.lift.columns import NATURAL, PLAIN, Column, Distinct, text_column
from scepter.lift.model import Constant, FreshBlankNode, Made, Reference, TermMap, TermType
from scepter.lift.rows import Rows
from scepter.lift.writing import (
    ABSENT,
    BAD_IRI,
    BOOLEAN_TYPE,
    ILL_TYPED,
    RELATIVE_IRI,
    WRITTEN,
    Around,
    Values,
    Written,
    join_columns,
    write_terms,
)
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.lexing import SENTINEL
from scepter.rdf.numerals import STRING_TYPE, UNDECIDED, datatype_code, exact_number
from scepter.rdf.putting import COPY, LABEL, LITERAL, TEMPLATE_IRI, WHOLE_IRI, room
from scepter.rdf.scanner import decode_term
from scepter.rdf.terms import STRING, XSD, BlankNode, Literal, parse_term

_ESCAPING: Final = (LITERAL, TEMPLATE_IRI, LABEL)
REASONS: Final = {
    BAD_IRI: "{value!r} of {field} has a character that an IRI must not hold",
    RELATIVE_IRI: "{value!r} of {field} is a relative IRI; begin it with a scheme, or give the mapping a base",
    ILL_TYPED: "{value!r} of {field} is no {type}",
}
"""Why a value makes no term."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a term map made. Entry i has the term `which[i]`, or term i where `which` is None, and belongs to the row
    `owner[i]`; None: to row i, or, where there is `constant` one, to every row."""

    ids: NDArray[np.uint64]
    places: NDArray[np.int64]
    number: NDArray[np.float64]
    scale: NDArray[np.int8]
    good: NDArray[np.bool_]
    owner: NDArray[np.int64] | None = None
    constant: bool = False
    which: NDArray[np.int64] | None = None

    def per_entry(self) -> Terms:
        """The same with a term for each entry."""
        at = self.which
        if at is None:
            return self
        return Terms(self.ids[at], self.places[at], self.number[at], self.scale[at], self.good[at], self.owner)


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that made no term."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What a map made of values that a later block may have too: their texts, and terms with their places among them."""

    values: Column
    texts: NDArray[np.uint8]
    terms: Terms


@dataclass(slots=True)
class Before:
    """What blocks of rows leave to those behind them."""

    distinct: dict[str, Distinct] = field(default_factory=dict)
    kept: dict[Made, Kept] = field(default_factory=dict)


@dataclass(slots=True)
class Writer:
    """Writes the terms of some rows into one buffer; each term map is evaluated once, and not even that for the values that the
    block before had."""

    rows: Rows
    key: TermKey
    base: str | None
    salts: NDArray[np.int64]
    """Per row: what keeps its blank nodes apart from those of other events."""
    before: Before = field(default_factory=Before)
    faults: list[Fault] = field(default_factory=list)
    _words: NDArray[np.uint64] = field(init=False)
    _parts: list[NDArray[np.uint8]] = field(default_factory=list)
    _size: int = 0
    _known: dict[TermMap, Terms] = field(default_factory=dict)
    _instead: Column | None = None
    """The values each once, where a field is read so."""

    def __post_init__(self) -> None:
        self._words = self.key.words()

    def buffer(self) -> NDArray[np.uint8]:
        """The texts written so far; places point into it."""
        return np.concatenate([*self._parts, np.frombuffer(SENTINEL, np.uint8)])

    def terms(self, given: TermMap) -> Terms:
        """The terms that a map makes of the rows."""
        found = self._known.get(given)
        if found is None:
            found = self._known[given] = self._evaluated(given)
        return found

    def _evaluated(self, given: TermMap) -> Terms:
        match given:
            case Constant(BlankNode(label)):
                return self._written(self._salted((label,)), COPY, "", "", None, given)
            case Constant(term):
                return self._constant(str(term))
            case FreshBlankNode(number):
                return self._written(self._salted((f"f{number}r", None)), COPY, "", "", None, given)
            case Made(parts, TermType.BLANK_NODE):
                return self._written(self._salted(parts), COPY, "", "", None, given)
            case Made(_, TermType.IRI):
                return self._once(given, self._iris)
            case Made():
                return self._once(given, self._literals)

    def _once(self, given: Made, make: Callable[[Made], Terms]) -> Terms:
        """The terms of one field whose values repeat, each made once."""
        names = {part.name for part in given.parts if isinstance(part, Reference)}
        if len(names) != 1:
            return make(given)
        [name] = names
        found = self.rows.distinct(name, self.before.distinct.get(name))
        if found is None:
            return make(given)
        self.before.distinct[name] = found
        kept = self.before.kept.get(given)
        if kept is not None and kept.values is found.values:
            made = kept.terms
            places = made.places + self._append(kept.texts)
        else:
            made = self._once_each(given, make, found)
            places = made.places
        which = found.which if made.which is None else made.which[found.which]
        return Terms(made.ids, places, made.number, made.scale, made.good, made.owner, which=which)

    def _once_each(self, given: Made, make: Callable[[Made], Terms], found: Distinct) -> Terms:
        """The terms of a field's values; they are kept for the next block, unless there is something to tell of one."""
        self._instead, before, self.faults = found.values, self.faults, []
        begin, parts = self._size, len(self._parts)
        made = make(given)
        told = [Fault(row, fault.reason) for fault in self.faults for row in np.flatnonzero(found.which == fault.row).tolist()]
        if not self.faults:
            texts = np.concatenate(self._parts[parts:])
            self.before.kept[given] = Kept(found.values, texts, replace(made, places=made.places - begin))
        before += sorted(told, key=lambda fault: fault.row)
        self._instead, self.faults = None, before
        return made

    def joined(self, given: Made) -> Column:
        """The texts that a map makes, before they are terms."""
        before, column, after, _ = self._joined(given.parts, COPY)
        return _surrounded(column, before, after)

    # ------------------------------------------------------------------ kinds of terms

    def _constant(self, text: str) -> Terms:
        written, made = _constant(self.key, text)
        place = np.array([self._append(written)], np.int64)
        return Terms(made.ids, place, made.number, made.scale, made.good, None, constant=True)

    def _iris(self, given: Made) -> Terms:
        if len(given.parts) == 1:
            return self._written(self._column(given.parts[0]), WHOLE_IRI, "<", ">", None, given)
        if not given.escaped:  # the whole is one value, which may be no IRI
            return self._written(self.joined(given), WHOLE_IRI, "<", ">", None, given)
        before, column, after, mode = self._joined(given.parts, TEMPLATE_IRI)
        return self._written(column, mode, f"<{before}", f"{after}>", None, given)

    def _literals(self, given: Made) -> Terms:
        if len(given.parts) == 1:
            column = self._column(given.parts[0])
            if given.datatype is None and given.language is None and column.natural.any():
                return self._natural(column, given)
        else:
            # texts around the values are escaped with them: the whole is one value
            column = self.joined(given)
        if given.language is not None:
            return self._written(column, LITERAL, '"', f'"@{given.language}', None, given)
        return self._written(column, LITERAL, '"', _closing(given.datatype), given.datatype, given)

    def _natural(self, column: Column, given: Made) -> Terms:
        """Literals of the datatypes that the values have of themselves."""
        made: Terms | None = None
        for code in np.unique(column.natural).tolist():
            mine = column.natural == code
            part = replace(column, valid=column.valid & mine)
            datatype = None if code == PLAIN else NATURAL[code]
            found = self._written(part, LITERAL, '"', _closing(datatype), datatype, given)
            made = found if made is None else _either(mine, found, made)
        assert made is not None
        return made

    # ------------------------------------------------------------------ columns of texts

    def _column(self, part: str | Reference | None) -> Column:
        if isinstance(part, Reference):
            return self.rows.column(part.name) if self._instead is None else self._instead
        count = self.rows.count
        if part is None:
            return _texts(pa.array(np.arange(count)).cast(pa.string()))
        return _texts(pa.repeat(pa.scalar(part, pa.string()), count))

    def _salted(self, parts: tuple[str | Reference | None, ...]) -> Column:
        """Labels of blank nodes, in letters that a label may hold, with the salts of their rows."""
        salts = _texts(pa.array(self.salts).cast(pa.string()))
        found, middle, mode = salts, "x", COPY
        for part in parts:
            if isinstance(part, str):
                middle += "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):02X}_" for c in part)
            else:
                found, middle, mode = _join(found, mode, middle, self._column(part), LABEL), "", COPY
        return _surrounded(found, "_:b", middle)

    def _joined(self, parts: tuple[str | Reference, ...], mode: int) -> tuple[str, Column, str, int]:
        """The text before the first value, a column of all values with the texts between them, the text behind the last, and
        how the column is to be written: one value as it is, several ones have been written on the way."""
        before, after = "", ""
        found: Column | None = None
        how = mode
        for part in parts:
            if isinstance(part, str):
                before, after = (part, "") if found is None else (before, part)
            elif found is None:
                found = self._column(part)
            else:
                found, how, after = _join(found, how, after, self._column(part), mode), COPY, ""
        assert found is not None
        return before, found, after, how

    # ------------------------------------------------------------------ texts of terms

    def _append(self, text: NDArray[np.uint8]) -> int:
        place = self._size
        self._parts.append(text)
        self._size += len(text)
        return place

    def _written(self, column: Column, mode: int, before: str, after: str, datatype: str | None, given: TermMap) -> Terms:
        count = len(column)
        low, high = (int(column.offsets[0]), int(column.offsets[-1])) if count else (0, 0)
        behind = given.base if isinstance(given, Made) and given.base is not None else self.base
        head, tail, base = _padded(before), _padded(after), _padded(behind or "")
        size = room(column.data, low, high, mode)
        if size == high - low and mode in _ESCAPING:
            mode = COPY  # there is nothing to escape
        out = np.empty(size + count * (len(head) + len(tail) + len(base)) + 32, np.uint8)
        # what is copied is its own canonical form
        longest = 0 if mode == COPY else int(np.max(np.diff(column.offsets), initial=0))
        scratch = np.empty(longest + len(head) + len(tail) + 16, np.uint8)
        made = Written(
            out, scratch, np.zeros(count, np.uint64), np.zeros(count, np.int64), np.zeros(count),
            np.full(count, NOT_A_NUMBER, np.int8), np.zeros(count, np.int8), np.empty(count, np.int64),
        )  # fmt: skip
        code = 0 if column.stamped and datatype == XSD + "dateTime" else _code(datatype)
        size, terms = write_terms(_values(column), Around(head, tail, base), mode, code, self._words, made)
        places, number, scale, status = made.places[:terms], made.number[:terms], made.scale[:terms], made.status[:terms]
        self._settle(out, places, number, scale)
        places += self._append(out[:size])
        which = None if terms == count else made.which
        self._tell(column, status, which, datatype, given)
        return Terms(made.ids[:terms], places, number, scale, status == WRITTEN, column.owner, which=which)

    def _settle(self, out: NDArray[np.uint8], places: NDArray[np.int64], number: Any, scale: Any) -> None:
        for row in np.flatnonzero(scale == UNDECIDED).tolist():
            term = decode_term(out, int(places[row]))
            assert isinstance(term, Literal)
            number[row], scale[row] = exact_number(term)

    def _tell(
        self, column: Column, found: NDArray[np.int8], which: NDArray[np.int64] | None, datatype: str | None, given: TermMap
    ) -> None:
        if not (found > ABSENT).any():
            return
        status = found if which is None else found[which]
        for value in np.flatnonzero(status > ABSENT).tolist():
            owner = value if column.owner is None else int(column.owner[value])
            kind = (datatype or "").replace(XSD, "xsd:")
            reason = REASONS[int(status[value])].format(value=column.text(value), field=_field(given), type=kind)
            self.faults.append(Fault(owner, reason))


def _field(given: TermMap) -> str:
    return ", ".join(given.references) if isinstance(given, Made) else "the mapping"


@lru_cache(maxsize=1024)
def _padded(text: str) -> NDArray[np.uint8]:
    """A text with a byte behind it, so that an empty one has a first byte to point to."""
    return np.frombuffer(bytearray(text.encode() + b"\0"), np.uint8)


def _texts(array: pa.Array) -> Column:
    return text_column(array, np.zeros(len(array), np.uint8))


def _closing(datatype: str | None) -> str:
    return '"' if datatype is None or datatype == STRING else f'"^^<{datatype}>'


@lru_cache(maxsize=256)
def _code(datatype: str | None) -> int:
    if datatype is None or datatype == STRING:
        return STRING_TYPE
    if datatype == XSD + "boolean":
        return BOOLEAN_TYPE
    text = np.frombuffer(f"<{datatype}>".encode() + b"\n" * 24, np.uint8)
    code = int(datatype_code(text, 0, len(text) - 24))
    return code if code > STRING_TYPE else 0


@lru_cache(maxsize=1024)
def _constant(key: TermKey, text: str) -> tuple[NDArray[np.uint8], Terms]:
    """A constant as it is written, and its term, whose place is still to be said."""
    number, scale = _number(text)
    made = Terms(
        np.array([term_id(key, text)], np.uint64), np.zeros(1, np.int64), np.array([number]), np.array([scale], np.int8),
        np.ones(1, np.bool_), None, True,
    )  # fmt: skip
    return np.frombuffer(f"{text}\n".encode(), np.uint8), made


def _number(text: str) -> tuple[float, int]:
    if not text.startswith('"'):
        return 0.0, NOT_A_NUMBER
    term = parse_term(text)
    assert isinstance(term, Literal)
    return exact_number(term)


def _either(mine: NDArray[np.bool_], first: Terms, second: Terms) -> Terms:
    """The terms of the first where they are meant, else those of the second."""
    first, second = first.per_entry(), second.per_entry()
    return Terms(
        np.where(mine, first.ids, second.ids), np.where(mine, first.places, second.places),
        np.where(mine, first.number, second.number), np.where(mine, first.scale, second.scale),
        np.where(mine, first.good, second.good), first.owner,
    )  # fmt: skip


def _values(column: Column) -> Values:
    return Values(column.data, column.offsets, column.valid.view(np.uint8))


def _surrounded(column: Column, before: str, after: str) -> Column:
    """The values with constant texts around them."""
    one = Column(np.zeros(8, np.uint8), np.zeros(2, np.int64), np.ones(1, np.bool_), np.zeros(1, np.uint8))
    nothing = np.zeros(len(column), np.int64)
    rows = np.arange(len(column))
    found = _combined(one, COPY, before, column, COPY, nothing, rows, column.owner)
    return found if not after else _combined(found, COPY, after, one, COPY, rows, nothing, column.owner)


def _join(first: Column, mode: int, middle: str, second: Column, second_mode: int) -> Column:
    """Values of one column, a text, and values of another one of the same row."""
    if first.owner is None and second.owner is None:
        rows = np.arange(len(first))
        return _combined(first, mode, middle, second, second_mode, rows, rows, None)
    owners = [np.arange(len(each)) if each.owner is None else each.owner for each in (first, second)]
    left, right = cross(*owners)
    return _combined(first, mode, middle, second, second_mode, left, right, owners[0][left])


def _combined(
    first: Column, mode: int, middle: str, second: Column, second_mode: int,
    left: NDArray[np.int64], right: NDArray[np.int64], owner: NDArray[np.int64] | None,
) -> Column:  # fmt: skip
    between = _padded(middle)[:-1]
    size = len(left) * len(between) + 16
    for column, how, at in ((first, mode, left), (second, second_mode, right)):
        whole = room(column.data, int(column.offsets[0]), int(column.offsets[-1]), how) if len(column) else 0
        repeated = 1 if len(at) <= len(column) else int(np.max(np.bincount(at, minlength=1), initial=1))
        size += int(whole) * repeated
    out, bounds = np.empty(size, np.uint8), np.empty(len(left) + 1, np.int64)
    present = np.empty(len(left), np.bool_)
    join_columns(_values(first), mode, between, _values(second), second_mode, (left, right), (out, bounds, present))
    return Column(out, bounds, present, np.zeros(len(left), np.uint8), owner)


def cross(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of places that belong to the same row, in order; both are sorted by row."""
    most = int(max(np.max(first, initial=-1), np.max(second, initial=-1))) + 1
    counts = np.bincount(second, minlength=most)
    starts = np.cumsum(counts) - counts
    each = counts[first]
    left = np.repeat(np.arange(len(first)), each)
    within = np.arange(len(left)) - np.repeat(np.cumsum(each) - each, each)
    return left, np.repeat(starts[first], each) + within
