"""Tables in blocks: events are the same wherever the blocks end."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from scepter.lift.load import load_mapping
from scepter.lift.reader import arrow_batches
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Reading

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
