"""Columns of tables as texts: instants, and values that repeat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import scepter
from scepter.io.mapped import MappedEvents
from scepter.lift.columns import arrow_column, distinct_column

INSTANTS = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59))


@given(st.lists(st.one_of(st.none(), INSTANTS), max_size=5), st.booleans(), st.booleans())
def test_instants_are_written_as_python_writes_them(found: list[datetime | None], zoned: bool, whole: bool) -> None:
    given = [None if each is None else each.replace(microsecond=0) if whole else each for each in found]
    array = pa.array([each and each.replace(tzinfo=UTC) for each in given] if zoned else given,
                     pa.timestamp("us", "UTC" if zoned else None))  # fmt: skip
    fraction = any(each is not None and each.microsecond for each in given)
    written = [each and each.isoformat(timespec="microseconds" if fraction else "seconds") for each in given]
    assert arrow_column(array).texts() == [each and each + ("Z" if zoned else "") for each in written]


def test_leap_days_and_the_ends_of_months() -> None:
    days = [datetime(year, 2, 28) + timedelta(days=more) for year in (1600, 1900, 1970, 2000, 2024) for more in range(3)]
    assert arrow_column(pa.array(days, pa.timestamp("s"))).texts() == [each.isoformat() for each in days]


def test_values_that_repeat_are_told_once() -> None:
    texts = ["a", None, "b", "a", "", "a", "b", "a", "a", "b", "a", "a"]
    for array in (pa.array(texts).dictionary_encode(), pa.array([1, None, 2] * 4)):
        found = distinct_column(array)
        assert found is not None
        values = found.values.texts()
        assert [values[at] for at in found.which] == arrow_column(array).texts()
        assert len(values) <= 4
    assert distinct_column(pa.array(range(12))) is None
    assert distinct_column(pa.array(texts)) is None


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
