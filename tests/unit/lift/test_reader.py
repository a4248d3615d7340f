"""Tables in blocks, whose events are the same wherever the blocks end, and dictionaries, whose values are those of a table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scepter
from batches import Event as Read
from batches import events_of
from scepter.io.mapped import MappedEvents
from scepter.lift.load import load_mapping
from scepter.lift.reader import arrow_batches
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Reading
from scepter.runtime.events import Event

MAPPING = load_mapping("""
time: $(t)
event: http://e/$(a)-$(b)
mappings: {r: {s: 'http://e/$(s)', po: [[http://e/v, $(v), xsd:integer]]}}
""")


def read(blocks: list[pa.RecordBatch]) -> tuple[list[tuple[int, list[tuple[int, int]]]], list[str]]:
    """The events, each with its time and its subjects and objects, and what was refused."""
    letters: list[DeadLetter] = []
    reading = Reading(TermKey.fixed(), 0, "t", letters.append, None, ReadState(), BATCH_BYTES, {})
    batches: list[EventBatch] = list(arrow_batches(MAPPING, blocks, reading))
    found = [
        (int(batch.start[event]), list(zip(batch.subject[low:high].tolist(), batch.object[low:high].tolist(), strict=True)))
        for batch in batches
        for event, (low, high) in enumerate(pairwise(batch.first.tolist()))
    ]
    return found, [letter.reason for letter in letters]


ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "x-y", None]), st.sampled_from(["z", "y-z"]), st.integers(0, 2)), max_size=12
)


@given(ROWS, st.lists(st.integers(0, 12), max_size=4), st.booleans())
def test_a_block_may_end_within_an_event(rows: list[tuple[str | None, str, int]], cuts: list[int], once: bool) -> None:
    """Names of different fields may be equal: x-y with z, x with y-z."""
    names = pa.array([a for a, _, _ in rows], pa.string())
    whole = pa.record_batch(
        {
            "t": pa.array([1 for _ in rows], pa.int64()),
            "a": names.dictionary_encode() if once else names,
            "b": pa.array([b for _, b, _ in rows], pa.string()),
            "s": pa.array([f"s{row}" for row in range(len(rows))], pa.string()),
            "v": pa.array([v for _, _, v in rows], pa.int64()),
        }
    )
    edges = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    blocks = [whole.slice(begin, end - begin) for begin, end in pairwise(edges)]
    assert read(blocks) == read([whole])


def made_of(rows: Any, mapping: str) -> list[Event]:
    made = scepter.events(rows, mapping, stream="http://e/s")
    assert isinstance(made, MappedEvents)
    return list(made)


AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        AT,
        AT.replace(microsecond=120_000),
        AT.astimezone(timezone(timedelta(hours=2))),
        AT.replace(tzinfo=None),
        pd.Timestamp(AT),
        np.datetime64("2026-01-02T03:04:05.000000"),
        AT.date(),
        Decimal("3.50"),
        np.int64(7),
        np.float32(0.5),
        np.float64(2.25),
        np.bool_(True),
        b"\xab",
        True,
        "text",
        4,
        2.5,
    ],
    ids=repr,
)
def test_values_of_dictionaries_are_those_of_a_table(value: Any) -> None:
    """A dictionary gives what a table with the same value gives."""
    mapping = "time: $(t)\nmappings: {r: {s: http://e/s, po: [[http://e/v, $(v)]]}}\n"
    rows = [{"t": 1, "v": value}]
    [made] = made_of(rows, mapping)
    [expected] = made_of(pa.table({"t": [1], "v": pa.array([value])}), mapping)
    assert made.triples == expected.triples


@pytest.mark.parametrize(
    "time", [AT, AT.replace(tzinfo=None), pd.Timestamp(AT), np.datetime64("2026-01-02T03:04:05"), np.int64(9)]
)
def test_the_time_of_a_dictionary_may_be_pythons_own(time: Any) -> None:
    mapping = "time: $(t)\nmappings: {r: {s: http://e/s, po: [[http://e/v, 1]]}}\n"
    [made] = made_of([{"t": time}], mapping)
    [expected] = made_of(pa.table({"t": pa.array([time])}), mapping)
    assert made.start == expected.start


def test_what_is_no_value_is_told() -> None:
    mapping = "time: $(t)\nmappings: {r: {s: http://e/s, po: [[http://e/v, $(v)]]}}\n"
    made = scepter.events(
        [{"t": 1, "v": {1}}, {"t": 2, "v": pd.NaT}, {"t": 4, "v": pd.NA}, {"t": 3, "v": 3}], mapping, stream="http://e/s"
    )
    assert isinstance(made, MappedEvents)
    assert [event.start for event in made] == [3]
    assert [letter.reason for letter in made.dead_letters] == ["v is a set, which is no value"]


OBSERVED = """
time: $(t)
mappings:
  r:
    s: http://e/$(s)
    po: [[http://e/v, $(v), xsd:decimal], [http://e/n, $(n), xsd:integer], [http://e/l, $(s), en~lang], [http://e/w, $(v)]]
"""


@given(
    st.lists(st.tuples(st.sampled_from("abc ä"), st.sampled_from([0.0, -0.0, 1.5, 2.25, None]), st.sampled_from("12x")),
             min_size=1, max_size=9),
    st.lists(st.integers(0, 160), max_size=4),
)  # fmt: skip
def test_terms_of_one_block_are_not_those_of_another(rows: list[tuple[str, float | None, str]], cuts: list[int]) -> None:
    """Each block has a dictionary of its own; values that are refused are refused in every block."""
    whole = rows * 20
    edges = sorted({0, len(whole), *(cut % len(whole) for cut in cuts)})

    def made(parts: list[tuple[int, int]]) -> tuple[list[Read], list[str]]:
        letters: list[DeadLetter] = []
        reading = Reading(TermKey.fixed(), 0, "t", letters.append, None, ReadState(), BATCH_BYTES, {})
        blocks = [
            pa.record_batch(
                {
                    "t": pa.array(range(begin, end), pa.int64()),
                    "s": pa.array([s for s, _, _ in whole[begin:end]]).dictionary_encode(),
                    "v": pa.array([v for _, v, _ in whole[begin:end]], pa.float64()),
                    "n": pa.array([n for _, _, n in whole[begin:end]]).dictionary_encode(),
                }
            )
            for begin, end in parts
        ]
        batches = arrow_batches(load_mapping(OBSERVED), blocks, reading)
        return events_of(batches), [letter.reason for letter in letters]

    assert made(list(pairwise(edges))) == made([(0, len(whole))])
