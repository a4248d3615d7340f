"""Fields of rows as columns of text: what terms are written from.

A column's texts stand one behind the other, as in Arrow. `natural` says what RML calls the natural datatype of each value:
that of the table's or the document's own type, where the mapping declares none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from scepter.lift.stamps import write_integers, write_stamps
from scepter.rdf.terms import STRING, XSD

PLAIN, INTEGER, DOUBLE, BOOLEAN, DATE_TIME, DATE, DECIMAL, HEX, TIME, DURATION = range(10)
NATURAL: Final = (
    STRING, XSD + "integer", XSD + "double", XSD + "boolean", XSD + "dateTime", XSD + "date", XSD + "decimal",
    XSD + "hexBinary", XSD + "time", XSD + "dayTimeDuration",
)  # fmt: skip
"""The datatypes of natural values, by code."""
_SECOND: Final = 1_000_000
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""Microseconds of the years 1 to 9999."""
_SAMPLE: Final = 1024
_REPEATED: Final = 4
"""So often a value must stand in a column, on average, to be written once."""
_NARROW: Final = 16
"""A range of numbers is narrow if there are so many values for each of them."""


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a field. Value i is `data[offsets[i]:offsets[i + 1]]`, none where it is not `valid`; it belongs to the row
    `owner[i]`, or to row i where `owner` is None."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    valid: NDArray[np.bool_]
    natural: NDArray[np.uint8]
    owner: NDArray[np.int64] | None = None
    stamped: bool = False
    """Whether the values were written here as dateTimes, and need not be checked to be any."""

    def __len__(self) -> int:
        return len(self.valid)

    def text(self, value: int) -> str:
        """One value, for messages."""
        return self.data[self.offsets[value] : self.offsets[value + 1]].tobytes().decode("utf-8", errors="replace")

    def texts(self) -> list[str | None]:
        """All of them, None for those that are not there."""
        return [self.text(i) if self.valid[i] else None for i in range(len(self))]


def empty_column(rows: int) -> Column:
    """A field that no row has."""
    return Column(np.zeros(8, np.uint8), np.zeros(rows + 1, np.int64), np.zeros(rows, np.bool_), np.zeros(rows, np.uint8))


def arrow_column(array: pa.Array | pa.ChunkedArray) -> Column:
    """A column of a table; lists give several values for a row. An empty text is no value."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type):
        owner = np.asarray(pc.list_parent_indices(array), dtype=np.int64)
        inner = arrow_column(pc.list_flatten(array))
        if inner.owner is not None:
            owner = owner[inner.owner]
        return Column(inner.data, inner.offsets, inner.valid, inner.natural, owner)
    texts, natural = _spelt(array)
    column = text_column(texts, np.full(len(texts), natural, np.uint8))
    # years of other than four digits are written by Arrow, and are no dateTimes here
    return replace(column, stamped=True) if natural == DATE_TIME and pa.types.is_large_string(texts.type) else column


@dataclass(frozen=True, slots=True)
class Distinct:
    """The values of a field, each once, and which of them each row has; the last value is none. `given` is what the values were
    made of: where a later block has the same, it has the same `values`, and their terms need not be written again."""

    values: Column
    which: NDArray[np.int64]
    given: pa.Array


def distinct_column(array: pa.Array, before: Distinct | None = None) -> Distinct | None:
    """The values of a column each once, where a table has them so, or where numbers and truth values repeat; None where it
    would save nothing. `before` is what the block before had."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if before is not None and before.given.type != kind:
        before = None
    if pa.types.is_floating(array.type):
        # to spell a float takes ten times as long as to look it up: all are looked at, not a sample
        array = _encoded_behind(array, before)
    elif pa.types.is_integer(array.type) or pa.types.is_boolean(array.type):
        if (found := _counted_up(array, before)) is not None:
            return found
        if len(array.slice(0, _SAMPLE).unique()) * _REPEATED > min(len(array), _SAMPLE):
            return None
        array = array.dictionary_encode()
    if not pa.types.is_dictionary(array.type) or len(array.dictionary) * _REPEATED > len(array):
        return None
    given = array.dictionary
    values = _known_values(given, before)
    if values.owner is not None:
        return None
    indices = array.indices
    indices = pc.fill_null(indices.cast(pa.int64()), len(given)) if indices.null_count else indices
    return Distinct(values, np.asarray(indices).astype(np.int64), given)


def _encoded_behind(array: pa.Array, before: Distinct | None) -> pa.DictionaryArray:
    """The array by its dictionary, which begins with the values of the block before unless they make it too long."""
    if before is not None:
        found = pa.concat_arrays([before.given, array]).dictionary_encode().slice(len(before.given))
        if len(found.dictionary) * _REPEATED <= len(array):
            return found
    return array.dictionary_encode()


def _counted_up(array: pa.Array, before: Distinct | None) -> Distinct | None:
    """The whole numbers from a column's least to its greatest: a value's place among them needs no table. None where they are
    many."""
    numbers = array.cast(pa.uint8()) if pa.types.is_boolean(array.type) else array
    least, greatest = (bound.as_py() for bound in pc.min_max(numbers).values())
    if least is None or greatest >= 1 << 63 or (greatest - least + 1) * _NARROW > len(array):
        return None
    count = greatest - least + 1
    if numbers.null_count:
        numbers = pc.fill_null(numbers, least)
    which = np.asarray(numbers).astype(np.int64)
    which -= least
    if array.null_count:
        which[np.asarray(array.is_null())] = count
    given = pa.array(range(least, greatest + 1), numbers.type).cast(array.type)
    return Distinct(_known_values(given, before), which, given)


def _known_values(given: pa.Array, before: Distinct | None) -> Column:
    if before is not None and len(given) == len(before.given) and _bits(given).equals(_bits(before.given)):
        return before.values
    return arrow_column(pa.concat_arrays([given, pa.nulls(1, given.type)]))


def _bits(array: pa.Array) -> pa.Array:
    """Floats as numbers that are equal if they are spelt alike: 0 is not -0."""
    return array.view(f"int{array.type.bit_width}") if pa.types.is_floating(array.type) else array


def text_column(texts: pa.Array, natural: NDArray[np.uint8], owner: NDArray[np.int64] | None = None) -> Column:
    """A column of texts as Arrow has them; an empty one is no value."""
    if not pa.types.is_large_string(texts.type) and not pa.types.is_string(texts.type):
        texts = texts.cast(pa.large_string())
    width: Any = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    count = len(texts)
    _, places, data = texts.buffers()
    if places is None:
        return empty_column(count)
    offsets = np.frombuffer(places, width, count + 1, texts.offset * np.dtype(width).itemsize).astype(np.int64)
    raw = np.zeros(8, np.uint8) if data is None or not data.size else np.frombuffer(data, np.uint8)
    valid = np.ones(count, np.bool_) if texts.null_count == 0 else np.asarray(texts.is_valid())
    return Column(raw, offsets, valid & (np.diff(offsets) > 0), natural, owner)


def _spelt(array: pa.Array) -> tuple[pa.Array, int]:
    """The lexical forms of a typed column, and its natural datatype."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array, PLAIN
    if pa.types.is_boolean(kind):
        return array.cast(pa.string()), BOOLEAN
    if pa.types.is_integer(kind):
        return (array.cast(pa.string()) if pa.types.is_uint64(kind) else _integers(array)), INTEGER
    if pa.types.is_floating(kind):
        return _floats(array), DOUBLE
    if pa.types.is_decimal(kind):
        return array.cast(pa.string()), DECIMAL
    if pa.types.is_timestamp(kind):
        return _stamps(array), DATE_TIME
    if pa.types.is_date(kind):
        return array.cast(pa.date32()).cast(pa.string()), DATE
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array([None if each is None else each.hex().upper() for each in array.to_pylist()], pa.string()), HEX
    if pa.types.is_null(kind):
        return array.cast(pa.string()), PLAIN
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string()), PLAIN
    if pa.types.is_time(kind):
        # Arrow writes six decimals
        texts = array.cast(pa.time64("us"), safe=False).cast(pa.string())
        return pc.replace_substring_regex(texts, pattern=r"\.?0+$", replacement=""), TIME
    if pa.types.is_duration(kind):
        whole = array.cast(pa.duration("us"), safe=False).cast(pa.int64()).to_pylist()
        return pa.array([None if each is None else _duration(each) for each in whole], pa.string()), DURATION
    # structs and maps are no values (`is_value`); a path may lead into them
    return pa.nulls(len(array), pa.string()), PLAIN


def is_value(kind: pa.DataType) -> bool:
    """Whether the cells of a column of such a type are values, or lists of them."""
    while (
        pa.types.is_dictionary(kind)
        or pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
    ):
        kind = kind.value_type
    return any(
        test(kind)
        for test in (
            pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary,
            pa.types.is_boolean, pa.types.is_null, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal,
            pa.types.is_timestamp, pa.types.is_date, pa.types.is_time, pa.types.is_duration,
        )
    )  # fmt: skip


def _duration(microseconds: int) -> str:
    """A duration as XSD writes it, in seconds alone.

    >>> _duration(-90_500_000)
    '-PT90.5S'
    """
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    decimals = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if microseconds < 0 else ''}PT{seconds}{decimals}S"


def _floats(array: pa.Array) -> pa.Array:
    """Plain notation, XSD's names for what is no number; NaN is what pandas writes where there is no value."""
    nan = pc.is_nan(array)
    texts = array.cast(pa.float64()).cast(pa.string())
    infinite = pc.fill_null(pc.is_inf(array), False)
    if pc.any(infinite).as_py():
        texts = pc.if_else(infinite, pc.if_else(pc.greater(array, 0), "INF", "-INF"), texts)
    return pc.if_else(pc.fill_null(nan, False), pa.scalar(None, pa.string()), texts)


def _integers(array: pa.Array) -> pa.Array:
    """Whole numbers of at most 64 bits with their sign."""
    values = np.asarray(pc.fill_null(array.cast(pa.int64()), 0), dtype=np.int64)
    out, places = np.empty(20 * len(values) + 8, np.uint8), np.empty(len(values) + 1, np.int64)
    write_integers(values.view(np.uint64), out, places)
    return _large_texts(out, places, array)


def _large_texts(out: NDArray[np.uint8], places: NDArray[np.int64], given: pa.Array) -> pa.Array:
    """Texts that were written one behind the other; none where the given array has none."""
    texts = pa.LargeStringArray.from_buffers(len(places) - 1, pa.py_buffer(places), pa.py_buffer(out))
    return pc.if_else(given.is_valid(), texts, None) if given.null_count else texts


def _stamps(array: pa.Array) -> pa.Array:
    """DateTimes to the second, or with six digits behind it where one of them has a fraction."""
    zoned = array.type.tz is not None
    micros = array.cast(pa.timestamp("us", "UTC" if zoned else None), safe=False)
    ticks = np.asarray(pc.fill_null(micros.cast(pa.int64()), 0))
    far = (ticks < _FIRST) | (ticks > _LAST)
    if far.any():  # years of other than four digits, which Arrow writes: the type of the texts tells that they are among them
        near = pc.if_else(far, None, micros)
        return pc.if_else(far, pc.strftime(micros, format="%Y-%m-%dT%H:%M:%S" + zoned * "Z"), _stamps(near).cast(pa.string()))
    fraction = bool((ticks % _SECOND).any())
    width = len("2026-01-01T00:00:00") + (len(".000000") if fraction else 0) + zoned
    out = np.empty(width * len(ticks), np.uint8)
    write_stamps(ticks, width, fraction, zoned, out)
    places = np.arange(len(ticks) + 1, dtype=np.int64) * width
    return _large_texts(out, places, micros)


def value_column(values: Sequence[object]) -> Column:
    """The values of a field of JSON documents, a list where a path leads to several."""
    if any(isinstance(value, list) for value in values):
        owner = [row for row, value in enumerate(values) for _ in (value if isinstance(value, list) else [value])]
        flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
        found = _values(flat)
        return Column(found.data, found.offsets, found.valid, found.natural, np.array(owner, np.int64))
    return _values(values)


def _values(values: Iterable[object]) -> Column:
    texts: list[str | None] = []
    codes: list[int] = []
    for value in values:
        text, code = value_text(value)
        texts.append(text)
        codes.append(code)
    return text_column(pa.array(texts, pa.large_string()), np.array(codes, np.uint8))


def value_text(value: object) -> tuple[str | None, int]:
    """The lexical form of a value of a document, or of a dictionary with values of Python or NumPy, and its natural datatype;
    None for what is no value."""
    match value:
        case str():
            return value.encode("utf-8", errors="replace").decode(), PLAIN
        case bool():
            return ("true" if value else "false"), BOOLEAN
        case int():
            return str(value), INTEGER
        case float():
            return float_text(value), DOUBLE
        case datetime():
            return _datetime_text(value), DATE_TIME
        case date():
            return value.isoformat(), DATE
        case Decimal():
            return (format(value, "f") if value.is_finite() else None), DECIMAL
        case bytes():
            return value.hex().upper(), HEX
        case np.datetime64():
            return value_text(value.astype("datetime64[us]").item())
        case np.generic():
            return value_text(value.item())
        case _:
            return None, PLAIN


def _datetime_text(value: datetime) -> str | None:
    if value != value:  # pandas' NaT
        return None
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def float_text(value: float) -> str | None:
    """A float in the shortest notation that means it; None for one that is no number."""
    if value != value:
        return None
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
