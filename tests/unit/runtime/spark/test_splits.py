"""Splits go to tasks as they were planned."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa

from batches import at_time, quad
from buckets import job_of
from scepter.kafka.address import Address
from scepter.kafka.messages import Span
from scepter.rdf.batch import DeadLetter
from scepter.runtime.queries import parse
from scepter.runtime.spark.ranges import plan_ranges
from scepter.runtime.spark.splits import Piece, Split, given_splits, read_split

QUERY = parse(
    "PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> "
    "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }",
    "spaseq",
)


def sent(*splits: tuple[int, Split]) -> list[tuple[int, Split]]:
    """As a task is given them."""
    return list(given_splits([pa.RecordBatch.from_pydict({"split": [pickle.dumps(each) for each in splits]})]))


def test_a_file_is_read_in_the_format_that_was_asked_for(tmp_path: Path) -> None:
    lines = (at_time(f"e{t}", t) + quad(f"e{t}", "<http://e/x>", "<http://e/a>", f'"{t}"') for t in range(3))
    (tmp_path / "log.txt").write_text("".join(lines))
    [part] = plan_ranges([tmp_path / "log.txt"], format=".nq")
    [(stream, split)] = sent((0, part))
    letters: list[DeadLetter] = []
    batches = read_split(job_of(QUERY, 2), stream, split, letters.append, predicates=None, named=True)
    assert [time for batch in batches for time in batch.start.tolist()] == [0, 1, 2]
    assert not letters


def test_a_piece_of_a_topic_keeps_its_span() -> None:
    piece = Piece(Address("localhost:9092", "readings", settings=(("a.b", "c"),)), Span(2, 5, 9), ".nq", 7)
    assert sent((1, piece)) == [(1, piece)]
