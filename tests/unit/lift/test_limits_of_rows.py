"""Rows and documents that ask too much of their readers: too deep, too long, too many, beyond the ends of time."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batches import KEY, events_of
from scepter.errors import OptionError
from scepter.io.mapped import MappedEvents
from scepter.io.sources import FileSource
from scepter.lift.context import ContextReaders, load_context
from scepter.lift.load import read_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.batch import DeadLetter
from scepter.rdf.limits import ReadLimits
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import Lift
from scepter.rdf.times import TimeProperties

MAPPED: Lift = MappedReaders(
    read_mapping("time: $(t)\nmappings:\n  r: {s: 'http://e/$(id)', po: [[http://e/v, $(v)]]}\n", "m.yml")
)
CONTEXT: Lift = ContextReaders('{"@vocab": "http://e/", "@base": "http://e/", "id": "@id"}')
GOOD = '{"t": 1, "id": "a", "v": 1}\n{"t": 2, "id": "b", "v": 2}\n'
CPU = 60.0
"""Seconds of processor time, with compiling; in quadratic time these inputs took minutes."""
BLANKS = b" " * (1 << 20)


def read(path: Path, lift: Lift, **limits: int) -> tuple[int, list[DeadLetter]]:
    letters: list[DeadLetter] = []
    times = TimeProperties.of(["http://e/t"]) if lift is CONTEXT else ReadState().times
    run = ReadState(limits=ReadLimits.of(limits), times=times)
    source = FileSource("f", [path], lift=lift)
    began = time.process_time()
    events = len(events_of(source.batches(KEY, 0, letters.append, run=run)))
    assert time.process_time() - began < CPU
    return events, letters


@pytest.fixture(params=[MAPPED, CONTEXT], ids=["mapping", "context"])
def lift(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("levels", [201, 5_000, 100_000])
def test_a_document_that_is_too_deep_costs_itself(tmp_path: Path, lift: Lift, levels: int) -> None:
    deep = '{"t": 1, "id": "d", "v": ' + "[" * levels + "]" * levels + "}\n"
    (tmp_path / "a.jsonl").write_text(deep + GOOD)
    events, letters = read(tmp_path / "a.jsonl", lift)
    assert events == 2
    assert [(letter.line, letter.reason) for letter in letters] == [(1, "more than 200 levels of nesting (limit depth)")]


def test_an_item_of_an_array_that_is_too_deep_costs_itself(tmp_path: Path, lift: Lift) -> None:
    deep = '{"t": 1, "id": "d", "v": ' + "[" * 300 + "]" * 300 + "}"
    (tmp_path / "a.json").write_text("[" + ",\n".join([deep, *GOOD.splitlines()]) + "]")
    events, letters = read(tmp_path / "a.json", lift)
    assert (events, [letter.reason for letter in letters]) == (2, ["more than 200 levels of nesting (limit depth)"])


def test_a_line_that_is_too_long_costs_itself_and_takes_no_room(tmp_path: Path, lift: Lift) -> None:
    first, second = GOOD.encode().splitlines(keepends=True)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(first + b"".join([BLANKS] * 150) + b"\n" + second, 1))
    events, letters = read(tmp_path / "a.jsonl.gz", lift)
    assert (events, [(letter.line, letter.reason) for letter in letters]) == (
        2, [(2, "an event of more than 67108864 bytes (limit event)")],
    )  # fmt: skip


@pytest.mark.parametrize("shown", ["[", "[\n", "{\n"])
def test_a_document_that_is_too_long_is_one_letter(tmp_path: Path, lift: Lift, shown: str) -> None:
    (tmp_path / "a.json").write_text(shown + " " * 1_000 + "\n" + " " * 1_000)
    events, letters = read(tmp_path / "a.json", lift, document=1_500)
    assert (events, [letter.reason for letter in letters]) == (0, ["a document of more than 1500 bytes (limit document)"])


@pytest.mark.parametrize("before", [b"", b'2,x,"1\n'])
def test_a_record_that_is_too_long_costs_itself(tmp_path: Path, before: bytes) -> None:
    data = b"t,id,v\n1,a,1\n" + before + b"".join([BLANKS.replace(b" ", b"a")] * 150) + b"\n3,b,1\n"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(data, 1))
    events, letters = read(tmp_path / "a.csv.gz", MAPPED)
    assert "an event of more than 67108864 bytes (limit event)" in [letter.reason for letter in letters]
    assert events >= 2, letters


def test_lines_within_an_open_quote_take_linear_time(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('t,id,v\n1,a,1\n2,b,"' + '""\n' * 600_000)
    events, letters = read(tmp_path / "a.csv", MAPPED)
    assert events + len(letters) >= 1


def test_a_heading_may_be_wide(tmp_path: Path) -> None:
    more = [f"c{i}" for i in range(100_000)]
    (tmp_path / "a.csv").write_text("\n".join([",".join(["t", "id", "v", *more]), ",".join(["1", "a", "1", *more]), ""]))
    assert read(tmp_path / "a.csv", MAPPED) == (1, [])


@pytest.mark.parametrize(
    ("name", "line"),
    [("a.csv", "junk,x,1"), ("a.csv", "junk"), ("a.jsonl", "junk"), ("a.jsonl", '{"id": "x"}'), ("a.ndjsonld", "junk")],
)
def test_junk_is_sampled_and_counted(tmp_path: Path, name: str, line: str) -> None:
    # as JSON-LD the documents of the mapping have no context, and would be told of
    good = {"a.csv": "t,id,v\n1,a,1", "a.ndjsonld": "{}"}.get(name, GOOD)
    (tmp_path / name).write_text("\n".join([good.rstrip(), *[line] * 20_000, ""]))
    _, letters = read(tmp_path / name, MAPPED)
    assert sum(letter.count for letter in letters) == 20_000
    assert len([letter for letter in letters if letter.count == 1]) == 1_000 and len(letters) < 1_100


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("instant", [2**63 - 1, 2**63 - 2, 2**63 - 3, -(2**63) + 3])
def test_a_time_beyond_the_last_one_is_a_dead_letter(tmp_path: Path, name: str, instant: int) -> None:
    ends = [2**63 - 4, -(2**63 - 4)]
    rows = [{"t": each, "id": "a", "v": 1} for each in [*ends, instant]]
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
    else:
        lines = [f'{{"t": {row["t"]}, "id": "a", "v": 1}}' if name == "a.jsonl" else f"{row['t']},a,1" for row in rows]
        (tmp_path / name).write_text("\n".join([*(["t,id,v"] if name == "a.csv" else []), *lines, ""]))
    events, letters = read(tmp_path / name, MAPPED)
    assert (events, [letter.reason for letter in letters]) == (
        2, ["a time that does not fit into 64 bits: times reach to 2^63 - 4"],
    )  # fmt: skip


@pytest.mark.parametrize("lifted", [True, False])
def test_packed_parquet_that_is_too_long_is_one_letter(tmp_path: Path, lifted: bool) -> None:
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"PAR1" + bytes(100_000)))
    events, letters = read(tmp_path / "a.parquet.gz", MAPPED if lifted else CONTEXT, document=10_000)
    assert (events, [letter.reason for letter in letters]) == (0, ["a document of more than 10000 bytes (limit document)"])


@pytest.mark.parametrize("text", [False, True])
def test_a_name_that_comes_twice_means_its_first_column(tmp_path: Path, text: bool) -> None:
    first, second = pa.array(["1", "2"] if text else [1, 2]), pa.array([8, 9] if text else ["8", "9"])
    rows = pa.Table.from_arrays([first, second, pa.array(["a", "b"]), pa.array([1, 1])], ["t", "t", "id", "v"])
    pq.write_table(rows, tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("t,t,id,v\n1,8,a,1\n2,9,b,1\n")
    letters: list[DeadLetter] = []
    for name in ("a.parquet", "a.csv"):
        found = FileSource("f", [tmp_path / name], lift=MAPPED).batches(KEY, 0, letters.append, run=ReadState())
        assert [time for batch in found for time in batch.end.tolist()] == [1, 2]
    given = MappedEvents("R", rows, MAPPED, "http://e/r").batches(KEY, 0, letters.append, run=ReadState())
    assert [time for batch in given for time in batch.end.tolist()] == [1, 2]
    assert letters == []


def test_parquet_that_is_damaged_is_a_letter_with_its_row(tmp_path: Path) -> None:
    out = io.BytesIO()
    rows = pa.table({"t": list(range(1_000)), "id": [f"a{i}" for i in range(1_000)], "v": list(range(1_000))})
    pq.write_table(rows, out, compression="snappy", use_dictionary=False)
    data = bytearray(out.getvalue())
    data[40:4_000] = bytes([255]) * 3_960
    (tmp_path / "a.parquet").write_bytes(data)
    events, letters = read(tmp_path / "a.parquet", MAPPED)
    assert events < 1_000 and len(letters) == 1 and letters[0].reason.startswith("not ")


@pytest.mark.parametrize("levels", [300, 900, 5_000])
def test_a_context_that_is_too_deep_is_refused(levels: int) -> None:
    with pytest.raises(OptionError, match="context"):
        load_context('{"@context": {"a": ' + '{"@context": {"a": ' * levels + "{}" + "}}" * levels + "}}")


def test_a_reason_shows_the_beginning_of_a_value(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"t": 1' + "0" * 4_000 + ', "id": "a", "v": 1}\n' + GOOD)
    _, letters = read(tmp_path / "a.jsonl", MAPPED)
    assert len(letters) == 1 and letters[0].reason.endswith("…' of t is no time") and len(letters[0].reason) < 300
