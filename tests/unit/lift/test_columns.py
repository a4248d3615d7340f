"""Columns of tables as texts: instants, and values that repeat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import scepter
from scepter.io.mapped import MappedEvents
from scepter.lift.columns import arrow_column, distinct_column

INSTANTS = st.one_of(
    st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59)),
    st.datetimes(min_value=datetime(1999, 12, 31), max_value=datetime(2000, 1, 2)),  # days that repeat
)


@given(st.lists(st.one_of(st.none(), INSTANTS), max_size=5), st.booleans(), st.booleans())
def test_instants_are_written_as_python_writes_them(found: list[datetime | None], zoned: bool, whole: bool) -> None:
    given = [None if each is None else each.replace(microsecond=0) if whole else each for each in found]
    array = pa.array([each and each.replace(tzinfo=UTC) for each in given] if zoned else given,
                     pa.timestamp("us", "UTC" if zoned else None))  # fmt: skip
    fraction = any(each is not None and each.microsecond for each in given)
    written = [each and each.isoformat(timespec="microseconds" if fraction else "seconds") for each in given]
    assert arrow_column(array).texts() == [each and each + ("Z" if zoned else "") for each in written]


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=9), st.integers(0, 3))
def test_integers_are_written_as_python_writes_them(found: list[int | None], skipped: int) -> None:
    assert arrow_column(pa.array(found, pa.int64()).slice(skipped)).texts() == [
        None if each is None else str(each) for each in found[skipped:]
    ]


def test_the_widths_of_integers() -> None:
    for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.uint64()):
        assert arrow_column(pa.array([0, 7, None, 120], kind)).texts() == ["0", "7", None, "120"]
    assert arrow_column(pa.array([2**64 - 1], pa.uint64())).texts() == [str(2**64 - 1)]


def test_leap_days_and_the_ends_of_months() -> None:
    days = [datetime(year, 2, 28) + timedelta(days=more) for year in (1600, 1900, 1970, 2000, 2024) for more in range(3)]
    assert arrow_column(pa.array(days, pa.timestamp("s"))).texts() == [each.isoformat() for each in days]


def test_values_that_repeat_are_told_once() -> None:
    texts = ["a", None, "b", "a", "", "a", "b", "a", "a", "b", "a", "a"]
    for array in (
        pa.array(texts).dictionary_encode(),
        pa.array([1, None, 2] * 4),
        pa.array([1.5, None, float("nan"), 2.0] * 5),
    ):
        found = distinct_column(array)
        assert found is not None
        values = found.values.texts()
        assert [values[at] for at in found.which] == arrow_column(array).texts()
        assert len(values) <= 5
    assert distinct_column(pa.array(range(12))) is None
    assert distinct_column(pa.array(texts)) is None


@given(
    st.sampled_from([pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64(), pa.bool_()]),
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=40),
    st.sampled_from([0, -3, -(2**63), 2**63 - 4, 2**64 - 4]),
    st.integers(0, 3),
)
def test_numbers_of_a_narrow_range_are_told_once(kind: pa.DataType, drawn: list[int | None], least: int, skipped: int) -> None:
    """Four different numbers at most, sixteen times as many values."""
    wide = pa.types.is_uint64(kind) if least >= 2**63 else pa.types.is_int64(kind) if abs(least) > 3 else True
    least = least if wide and not (least < 0 and (pa.types.is_unsigned_integer(kind) or pa.types.is_boolean(kind))) else 0
    numbers = [None if each is None else bool(each % 2) if pa.types.is_boolean(kind) else each + least for each in drawn]
    array = pa.array(numbers * 70, kind).slice(skipped)
    found = distinct_column(array)
    assert found is not None
    values = found.values.texts()
    assert [values[at] for at in found.which] == arrow_column(array).texts()
    assert len(values) <= 5


def test_each_row_of_a_value_that_is_wrong_is_told() -> None:
    mapping = "time: $(t)\nmappings: {r: {s: 'http://e/$(s)', po: [[http://e/v, $(v), xsd:integer]]}}\n"
    plain = pa.table({"t": list(range(16)), "s": ["a", "b"] * 8, "v": ["1", "x", "2", "y"] * 4})
    once = plain.set_column(2, "v", plain.column("v").combine_chunks().dictionary_encode())
    told = []
    for table in (plain, once):
        made = scepter.events(table, mapping, stream="http://e/s")
        assert isinstance(made, MappedEvents)
        assert len(list(made)) == 8
        told.append([(letter.line, letter.reason) for letter in made.dead_letters])
    assert told[0] == told[1]
    assert len(told[0]) == 8


def test_rows_that_make_every_triple_are_placed_as_others_are() -> None:
    """One row without a value, behind them, takes them off the short way."""
    pairs = "[[http://e/v, $(v), xsd:integer], [http://e/w, $(w)], ['http://e/$(w)', http://e/c]]"
    mapping = f"time: $(t)\nmappings: {{r: {{s: 'http://e/$(s)', po: {pairs}}}}}\n"
    count = 300
    given: list[tuple[int, str, int | None, str]] = [(i, "abc"[i % 3], i % 7, "xy"[i % 2]) for i in range(count)]
    short, long = (_made(rows, mapping) for rows in (given, [*given, (count, "a", None, "x")]))
    assert short == long[:count]
    assert [len(each) for each in long] == [3] * count + [2]
    assert str(short[8][0][2]) == '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'


def _made(rows: list[tuple[int, str, int | None, str]], mapping: str) -> list[list[tuple[str, str, str]]]:
    table = pa.table(dict(zip("tsvw", map(list, zip(*rows, strict=True)), strict=True)))
    made = scepter.events(table, mapping, stream="http://e/s")
    assert isinstance(made, MappedEvents)
    return [list(event.triples) for event in made]


POOLS: dict[str, tuple[pa.DataType, list[object]]] = {
    "floats": (pa.float64(), [0.0, -0.0, 1.5, float("nan"), float("inf"), 1e300]),
    "halves": (pa.float32(), [0.0, -0.0, 0.5]),
    "integers": (pa.int64(), [0, 1, 2, 7]),
    "far apart": (pa.int64(), [0, 10**6, -(10**12)]),
    "truths": (pa.bool_(), [True, False]),
    "texts": (pa.string(), ["a", "b", "", "ä"]),
}
BLOCKS = st.lists(st.tuples(st.sampled_from(list(POOLS)), st.lists(st.integers(-1, 5), min_size=1, max_size=6)), max_size=6)


@given(BLOCKS, st.sampled_from([1, 20, 80]))
def test_what_the_block_before_had_changes_no_value(drawn: list[tuple[str, list[int]]], times: int) -> None:
    """Columns may even change their types between blocks."""
    before = None
    for name, numbers in drawn:
        kind, pool = POOLS[name]
        array = pa.array([None if at < 0 else pool[at % len(pool)] for at in numbers] * times, kind)
        array = array.dictionary_encode() if pa.types.is_string(kind) else array
        found = distinct_column(array, before)
        if found is not None:
            values = found.values.texts()
            assert [values[at] for at in found.which] == arrow_column(array).texts()
            again = distinct_column(array, found)
            assert again is not None
            assert again.values is found.values or "nan" in str(again.given)
        before = found or before


def test_years_of_five_digits_are_no_date_times() -> None:
    mapping = "time: $(t)\nmappings: {r: {s: 'http://e/s', po: [[http://e/at, $(at), xsd:dateTime]]}}"
    far = pa.array([253_402_300_800_000_000, 0], pa.timestamp("us"))
    events = scepter.events(pa.table({"t": [1, 2], "at": far}), map=mapping, stream="http://e/r")
    assert isinstance(events, MappedEvents)
    found = [str(triple[2]) for event in events for triple in event.triples]
    assert found == ['"1970-01-01T00:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>']
    assert [letter.reason for letter in events.dead_letters] == ["'10000-01-01T00:00:00.000000' of at is no xsd:dateTime"]
