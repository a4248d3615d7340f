"""Parquet files as other writers make them, and as no writer should."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scepter
from batches import KEY, Event, events_of
from scepter.errors import OptionError
from scepter.io.sources import open_source
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import ReadState
from scepter.rdf.parquet import EventTable, parquet_batches

TRIPLE = ("<http://e/s>", "<http://e/p>", '"é"')
GRAPHS = [[dict(zip("spo", TRIPLE, strict=True))], [dict(zip("spo", TRIPLE, strict=True))] * 2]


def read(data: bytes) -> tuple[list[Event], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    table = EventTable(KEY, 0, "t", letters.append, None, ReadState())
    return events_of(parquet_batches(io.BytesIO(data), table)), letters


def written(graph: pa.Array, start: pa.Array | None = None, **options: Any) -> bytes:
    times = pa.array(range(1, len(graph) + 1), pa.int64()) if start is None else start
    out = io.BytesIO()
    pq.write_table(pa.table({"start": times, "end": times, "graph": graph}), out, **options)
    return out.getvalue()


def graph_of(text: pa.DataType, listed: Any = pa.list_, graphs: list[Any] = GRAPHS) -> pa.Array:
    plain = pa.array(graphs, pa.list_(pa.struct([(name, pa.string()) for name in "spo"])))
    flat = plain.flatten()
    fields = [flat.field(i).dictionary_encode() if pa.types.is_dictionary(text) else flat.field(i).cast(text) for i in range(3)]
    struct = pa.StructArray.from_arrays(fields, names=list("spo"))
    if listed is pa.large_list:
        return pa.LargeListArray.from_arrays(plain.offsets.cast(pa.int64()), struct)
    if listed is pa.list_view:
        return pa.ListViewArray.from_arrays(plain.offsets[:-1], plain.value_lengths(), struct)
    return pa.ListArray.from_arrays(plain.offsets, struct)


TEXTS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("listed", [pa.list_, pa.large_list, pa.list_view])
@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_text_of_every_type(text: pa.DataType, listed: Any) -> None:
    events, letters = read(written(graph_of(text, listed)))
    assert [(start, triples) for start, _, _, triples in events] == [(1, [TRIPLE]), (2, [TRIPLE])]
    assert not letters


@pytest.mark.parametrize("listed", [pa.list_view, pa.large_list_view])
def test_lists_of_a_table_that_stand_in_any_order(listed: Any) -> None:
    struct = graph_of(pa.string()).flatten()
    views = pa.ListViewArray if listed is pa.list_view else pa.LargeListViewArray
    offsets = pa.array([1, 0], pa.int32() if listed is pa.list_view else pa.int64())
    graph = views.from_arrays(offsets, pa.array([1, 1], offsets.type), struct)
    table = pa.table({"start": [5, 6], "end": [5, 6], "graph": graph})
    query = scepter.parse("SELECT ?o WHERE { ?s ?p ?o }", "ep-sparql")
    assert [match.start for match in scepter.run_local(query, table)] == [5, 6]


def test_a_file_in_which_all_events_are_bad() -> None:
    typed = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))
    bad = [[{"s": "x", "p": "y", "o": "z"}], [{"s": None, "p": None, "o": None}], [], None]
    events, letters = read(written(pa.array(bad, typed)))
    assert not events
    assert {letter.line for letter in letters} == {1, 2, 3, 4}
    events, letters = read(written(pa.array([None, None], typed)))
    assert (events, len(letters)) == ([], 2)
    assert read(written(graph_of(pa.string(), graphs=[]))) == ([], [])


def test_a_run_over_bad_events_alone(tmp_path: Path) -> None:
    bad = [[{"s": "x", "p": "<http://e/p>", "o": '"z"'}]] * 2
    (tmp_path / "bad.parquet").write_bytes(written(graph_of(pa.string(), graphs=bad)))
    query = scepter.parse("SELECT ?o WHERE { ?s <http://e/p> ?o }", "ep-sparql")
    for events, found in ((GRAPHS, 2), ([], 0)):
        (tmp_path / "some.parquet").write_bytes(written(graph_of(pa.string(), graphs=events)))
        assert len(scepter.run_local(query, {"http://e/s": str(tmp_path / "*.parquet")})) == found


def test_bytes_that_are_not_utf_8_cost_their_event_only() -> None:
    flat = pa.StructArray.from_arrays(
        [pa.array([b"<a:s>"] * 2), pa.array([b"<a:p>"] * 2), pa.array([b'"\xff"', b'"x"'])], list("spo")
    )
    events, letters = read(written(pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), flat)))
    assert [start for start, _, _, _ in events] == [2]
    assert [letter.line for letter in letters] == [1, 1]
    assert "UTF-8" in letters[0].reason


@pytest.mark.parametrize(
    "times", [pa.array([2**63 - 2, 1]), pa.array([2**64 - 1, 1], pa.uint64()), pa.array([2**62, 1], pa.timestamp("s"))]
)
def test_times_that_do_not_fit(times: pa.Array) -> None:
    if pa.types.is_timestamp(times.type):  # Parquet has no seconds: they come as milliseconds
        times = pa.array([2**61, 1], pa.timestamp("ms"))
    events, letters = read(written(graph_of(pa.string()), times))
    assert len(events) == 1
    assert letters[0].reason.startswith("a time that does not fit into 64 bits")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (pa.array(["x"]), "graph is a list of structs, not string"),
        (pa.array([["x"]]), "graph is a list of structs"),
        (pa.array([[{"s": "x", "p": "y"}]]), "have no field o"),
        (pa.array([[{"s": 1, "p": 2, "o": 3}]]), "s is a string, not int64"),
    ],
)
def test_tables_of_something_else_are_refused(graph: pa.Array, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read(written(graph))


@pytest.mark.parametrize("name", ["start", "graph"])
def test_a_column_that_comes_twice_is_refused(name: str) -> None:
    table = pq.read_table(io.BytesIO(written(graph_of(pa.string()))))
    out = io.BytesIO()
    pq.write_table(table.append_column(name, table.column(name)), out)
    with pytest.raises(OptionError, match=f"the column {name} is there twice"):
        read(out.getvalue())
    with pytest.raises(OptionError, match=f"the column {name} is there twice"):
        query = "SELECT ?x FROM STREAM <http://e/s> WHERE { ?x ?y ?z }"
        scepter.run_local(scepter.parse(query, "ep-sparql"), table.append_column(name, table.column(name)))


@pytest.mark.parametrize("seed", range(300))
def test_damaged_files_are_dead_letters(seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray(written(graph_of(TEXTS[seed % len(TEXTS)]), compression=draw.choice(["none", "snappy", "zstd"])))
    for _ in range(draw.choice([1, 1, 3, 20])):
        data[draw.randrange(len(data))] = draw.randrange(256)
    if seed % 7 == 0:
        del data[draw.randrange(len(data)) :]
    try:
        events, _ = read(bytes(data))
    except OptionError:
        return  # another schema, then
    assert len(events) <= 2


def test_a_damaged_file_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(written(graph_of(pa.string()))[:-20] + b"PAR1")
    letters: list[DeadLetter] = []
    assert not events_of(open_source(tmp_path / "a.parquet").batches(KEY, 0, letters.append))
    assert letters[0].source.endswith("a.parquet")
