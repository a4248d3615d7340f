from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batches import KEY, XSD, Event, at_time, events_of, integer, quad
from scepter.errors import OptionError
from scepter.io.sources import FileSource, PipeSource, open_source
from scepter.lift.load import load_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.batch import DeadLetter
from scepter.rdf.extensions import sniff
from scepter.rdf.hashing import term_id
from scepter.rdf.looking_ahead import survey
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import EventSource, Survey
from scepter.timeline import TimeKind

TRIPLE = ("<http://e/s>", "<http://e/p>", "<http://e/o>")
TRIG = (
    "PREFIX : <http://e/> PREFIX prov: <http://www.w3.org/ns/prov#>\n"
    ":e1 { :s :p :o } :e1 prov:generatedAtTime 10 . :e2 { :s :p :o } :e2 prov:generatedAtTime 11 ."
)
NQUADS = at_time("e1", 10) + quad("e1") + at_time("e2", 11) + quad("e2")
TIMELINE = "10 { <http://e/s> <http://e/p> <http://e/o> } 11 { <http://e/s> <http://e/p> <http://e/o> }"
STAMPED = "".join(f"<http://e/s> <http://e/p> <http://e/o> {integer(t)} .\n" for t in (10, 11))
JSON_LD = (
    '[{"@id": "http://e/e1", "http://www.w3.org/ns/prov#generatedAtTime": {"@value": 10},'
    '  "@graph": [{"@id": "http://e/s", "http://e/p": {"@id": "http://e/o"}}]},'
    ' {"@id": "http://e/e2", "http://www.w3.org/ns/prov#generatedAtTime": {"@value": 11},'
    '  "@graph": [{"@id": "http://e/s", "http://e/p": {"@id": "http://e/o"}}]}]'
)
TEXTS = {".nq": NQUADS, ".nquads": NQUADS, ".trig": TRIG, ".timeline": TIMELINE, ".nt": STAMPED, ".jsonld": JSON_LD}


def read(source: EventSource, **options: object) -> tuple[list[Event], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    return events_of(source.batches(KEY, 0, letters.append, **options)), letters  # type: ignore[arg-type]


def plain(events: list[Event]) -> list[tuple[int, int, list[tuple[str, str, str]]]]:
    return [(start, end, triples) for start, end, _, triples in events]


EXPECTED = [(10, 10, [TRIPLE]), (11, 11, [TRIPLE])]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("extension", TEXTS)
def test_formats_by_name_and_by_content(tmp_path: Path, extension: str, named: bool, packed: bool) -> None:
    data = TEXTS[extension].encode()
    path = tmp_path / ("stream" + (extension if named else "") + (".gz" if packed and named else ""))
    path.write_bytes(gzip.compress(data) if packed else data)
    source = open_source(str(path))
    events, letters = read(source)
    assert plain(events) == EXPECTED
    assert not letters
    assert survey(source) == Survey(TimeKind.INTEGER, 0, 10, 11, 2, path.stat().st_size)


def test_folders_and_globs(tmp_path: Path) -> None:
    (tmp_path / "b.nq").write_text(at_time("b", 2) + quad("b"))
    (tmp_path / "a.nq.gz").write_bytes(gzip.compress((at_time("a", 1) + quad("a")).encode()))
    (tmp_path / "notes.txt").write_text("no stream")
    (tmp_path / "c.nq").write_text("")
    (tmp_path / "sub.nq").mkdir()
    assert [event[0] for event in read(open_source(tmp_path))[0]] == [1, 2]
    assert [event[0] for event in read(open_source(str(tmp_path / "*.nq")))[0]] == [2]


def test_a_name_with_glob_characters_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "a[1].nq"
    path.write_text(NQUADS)
    assert len(read(open_source(str(path)))[0]) == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("missing.nq", "does not exist"),
        ("*.trig", "no file matches"),
        ("empty", "holds no stream file"),
        ("junk.bin", "neither the extension nor the content"),
        ("broken.nq.gz/x", "does not exist"),
        ("gone.nq", "is a link to nowhere"),
        ("loop.nq", "is a link to nowhere"),
        ("amqp://host/topic", "no source is known"),
    ],
)
def test_sources_that_are_none(tmp_path: Path, spec: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "junk.bin").write_bytes(b"\x00\x01\x02\xff")
    (tmp_path / "gone.nq").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop.nq").symlink_to(tmp_path / "loop.nq")
    with pytest.raises(OptionError, match=message) as caught:
        open_source(spec if "://" in spec else str(tmp_path / spec))
    assert caught.value.diagnostic.message


def test_a_misspelt_name_is_guessed(tmp_path: Path) -> None:
    (tmp_path / "power.nq").write_text(NQUADS)
    with pytest.raises(OptionError) as caught:
        open_source(str(tmp_path / "powr.nq"))
    assert "power.nq" in (caught.value.diagnostic.help or "")


@pytest.mark.parametrize("damage", ["cut off", "flipped", "no archive"])
def test_a_damaged_archive_is_read_up_to_its_damage(tmp_path: Path, damage: str) -> None:
    text = "".join(at_time(f"e{n}", n) + quad(f"e{n}") for n in range(20_000))
    data = bytearray(gzip.compress(text.encode()))
    if damage == "flipped":
        data[-6] ^= 1  # of the checksum, which stands behind all events
    whole = {"cut off": len(data) // 2, "flipped": len(data), "no archive": 5}[damage]
    (tmp_path / "a.nq.gz").write_bytes(data[:whole])
    (tmp_path / "b.nq").write_text(NQUADS)
    events, letters = read(open_source(tmp_path))
    assert {"cut off": 5_000, "flipped": 20_002, "no archive": 2}[damage] <= len(events) <= 20_002
    assert len(events) < 20_002 or damage == "flipped"
    named = [letter for letter in letters if "cannot be read to its end" in letter.reason]
    assert [letter.source for letter in named] == [str(tmp_path / "a.nq.gz")]


def test_links_to_nowhere_in_a_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.nq").symlink_to(tmp_path / "gone")
    (tmp_path / "b.nq").write_text(NQUADS)
    events, letters = read(open_source(tmp_path))
    assert len(events) == 2
    assert [(letter.source, "link to nowhere" in letter.reason) for letter in letters] == [(str(tmp_path / "a.nq"), True)]


def test_faults_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    path.write_text(NQUADS + "junk\n")
    events, letters = read(open_source(path))
    assert len(events) == 2
    assert [(letter.source, letter.line, letter.text) for letter in letters] == [(str(path), 5, "junk")]
    path = tmp_path / "a.timeline"
    path.write_text("10 { <a:b> <a:c> 1 }\n11 { <a:b> }")
    events, letters = read(open_source(path))
    assert not events
    assert letters[0].line == 2
    path = tmp_path / "latin.timeline"
    path.write_bytes(b"10 { <a:b> <a:c> '\xe9' }")
    assert "UTF-8" in read(open_source(path))[1][0].reason


def test_disorder_is_surveyed(tmp_path: Path) -> None:
    ends = [5, 3, 9, 2, 9, 8, -4, 20]
    path = tmp_path / "a.nq"
    path.write_text("".join(at_time(f"e{i}", t) + quad(f"e{i}") for i, t in enumerate(ends)))
    assert survey(open_source(path)) == Survey(TimeKind.INTEGER, 13, -4, 20, 8, path.stat().st_size)
    (tmp_path / "none.nq").write_text("")
    assert survey(open_source(tmp_path / "none.nq")) == Survey(None, 0, 0, 0, 0, 0)


def test_disorder_across_files_and_batches(tmp_path: Path) -> None:
    for name, times in (("a.nq", range(100, 200)), ("b.nq", range(50, 60))):
        (tmp_path / name).write_text("".join(at_time(f"e{t}", t) + quad(f"e{t}") for t in times))
    assert survey(open_source(tmp_path)).disorder == 149


def test_a_run_shares_kind_and_salts(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(at_time("e1", 1) + quad("e1", "_:x"))
    (tmp_path / "b.timeline").write_text("2 { _:x <http://e/p> <http://e/o> }")
    (tmp_path / "c.timeline").write_text("2026-01-01T00:00:00Z { <a:b> <a:c> 1 }")
    run = ReadState()
    events, letters = read(open_source(tmp_path), run=run)
    assert len({event[3][0][0] for event in events}) == 2
    assert run.kind is TimeKind.INTEGER
    assert len(letters) == 1


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    for name in ("a.nq", "b.trig", "c.nq.gz"):
        data = TRIG if name == "b.trig" else NQUADS
        (tmp_path / name).write_bytes(gzip.compress(data.encode()) if name.endswith("gz") else data.encode())
    steps: list[tuple[int, int]] = []
    read(open_source(tmp_path), progress=lambda done, total: steps.append((done, total)))
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert steps[-1] == (total, total)
    assert steps == sorted(steps)


def test_pipes_are_read_as_they_come_or_spooled() -> None:
    for data in (NQUADS.encode(), gzip.compress(NQUADS.encode()), TRIG.encode(), TIMELINE.encode()):
        pipe = PipeSource(partial(io.BytesIO, data))
        assert plain(read(pipe)[0]) == EXPECTED
        with pytest.raises(OptionError, match="only once"):
            read(pipe)
        with pytest.raises(OptionError, match="only once"):
            survey(pipe)
        spooled = PipeSource(partial(io.BytesIO, data))
        assert survey(spooled).events == 2
        for _ in range(2):
            assert plain(read(spooled)[0]) == EXPECTED
        spooled.close()


def test_pipes_of_nothing_and_of_junk() -> None:
    assert read(PipeSource(lambda: io.BytesIO(b""))) == ([], [])
    spooled = PipeSource(lambda: io.BytesIO(b"<x:s> <x:p> broken\n"))
    assert [letter.source for letter in read(spooled.lasting())[1]] == ["-"]  # not the temporary file
    spooled.close()
    events, letters = read(PipeSource(lambda: io.BytesIO(b"\x00\xff junk\n")))
    assert not events
    assert len(letters) == 1
    junk = PipeSource(lambda: io.BytesIO(b"\x00\xff junk\n"))
    assert survey(junk).events == 0
    junk.close()


GRAPH = pa.list_(pa.struct([("s", pa.string()), ("p", pa.string()), ("o", pa.string())]))


def table(path: Path, start: pa.Array, end: pa.Array, graphs: list[object]) -> FileSource:
    columns = {
        "stream": pa.array(["http://e/stream"] * len(start)),
        "start": start,
        "end": end,
        "graph": pa.array(graphs, GRAPH),
    }
    pq.write_table(pa.table(columns), path)
    source = open_source(path)
    assert isinstance(source, FileSource)
    return source


def struct(object: str = "<http://e/o>") -> dict[str, str]:
    return {"s": "<http://e/s>", "p": "<http://e/p>", "o": object}


def test_tables(tmp_path: Path) -> None:
    graphs: list[object] = [[struct(), struct('"é"@EN')], [struct(integer(3))]]
    source = table(tmp_path / "t.parquet", pa.array([1, 2]), pa.array([1, 5]), graphs)
    events, letters = read(source)
    assert plain(events) == [(1, 1, [TRIPLE, (*TRIPLE[:2], '"é"@en')]), (2, 5, [(*TRIPLE[:2], integer(3))])]
    assert not letters
    assert survey(source).disorder == 0
    events, _ = read(source, predicates=frozenset({term_id(KEY, "<a:other>")}))
    assert [event[3] for event in events] == [[], []]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_tables_of_timestamps(tmp_path: Path, unit: str) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    column = pa.array([moment], pa.timestamp(unit, tz="UTC"))
    source = table(tmp_path / "t.parquet", column, column, [[struct()]])
    assert [event[0] for event in read(source)[0]] == [int(moment.timestamp()) * 1_000_000]
    assert survey(source).kind is TimeKind.DATETIME


def test_faulty_rows_of_tables(tmp_path: Path) -> None:
    start, end = pa.array([1, None, 5, 1, 1, 1, 7]), pa.array([1, 2, 4, 1, 1, 1, 7])
    bad = [struct(), struct("relative"), struct("<a:b>\n<a:b> <a:c> <a:d> ."), {"s": None, "p": None, "o": None}]
    graphs: list[object] = [[struct()], [struct()], [struct()], [], None, bad, [struct()]]
    events, letters = read(table(tmp_path / "t.parquet", start, end, graphs))
    assert [event[0] for event in events] == [1, 1, 7]
    assert [len(event[3]) for event in events] == [1, 1, 1]
    assert sorted(letter.line or 0 for letter in letters) == [2, 3, 4, 5, 6, 6, 6]


def test_tables_that_are_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({"start": [1]}), tmp_path / "t.parquet")
    with pytest.raises(OptionError, match="column end is missing"):
        read(open_source(tmp_path / "t.parquet"))
    columns = {"start": ["x"], "end": ["y"], "graph": pa.array([[struct()]], GRAPH)}
    pq.write_table(pa.table(columns), tmp_path / "u.parquet")
    with pytest.raises(OptionError, match="timestamps or integers"):
        read(open_source(tmp_path / "u.parquet"))
    (tmp_path / "v.parquet").write_bytes(b"PAR1 no table")
    events, letters = read(open_source(tmp_path / "v.parquet"))
    assert not events
    assert "not Parquet" in letters[0].reason


@pytest.mark.parametrize(
    ("head", "extension"),
    [
        (b"", None),
        (b"# comment only", None),
        (b"\x00\x01", None),
        (b"\xef\xbb\xbf" + NQUADS.encode(), ".nq"),
        (b"_:a <a:b> _:c .", ".nq"),
        (b"@prefix : <a:> .", ".trig"),
        (b"BASE <a:>", ".trig"),
        (b"<a:g> { <a:s> <a:p> 1 }", ".trig"),
        (b"<a:s> a <a:o> .", ".trig"),
        (b"{ <a:s> <a:p> 1 }", ".trig"),
        (b'{"@id": "a:b"}', ".jsonld"),
        (b"[]", ".jsonld"),
        (b'{"time": 1}\n{"time": 2}', ".json"),
        (b'[{"time": 1}]', ".json"),
        (b" [ { } ]", ".jsonld"),
        (b"10..12 { }", ".timeline"),
        (b"2026-01-01T00:00:00+01:00 {", ".timeline"),
        (b"-5{", ".timeline"),
        (b"PREFIX : <http://e/>\n10 { :a :b :c }", ".timeline"),
        (b"@prefix a: <http://e/> . # here\n\nPREFIX b: <u:> 2026-01-01T00:00:00Z {", ".timeline"),
        (b"PREFIX : <http://e/>\n:g { :a :b 10 }", ".trig"),
        (b"PAR1....", ".parquet"),
        (b"\x0a\x0c\x0a\x0a\x10\x02\x48\x80\x20", ".jelly"),
        (b"\x0e\x0a\x0c\x0a\x0a\x0a\x01s\x10\x01", ".jelly"),
        (b"\n\n\n\n<a:b> <a:c> _:d .", ".nq"),
        (b"10 hello", None),
        (b"hello world", None),
    ],
)
def test_sniffing(head: bytes, extension: str | None) -> None:
    assert sniff(head) == extension


def test_a_folder_of_folders_is_given_as_a_glob(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    with pytest.raises(OptionError, match=r"stream files end in"):
        open_source(tmp_path)
    (tmp_path / "day=1" / "a.nq").write_text(NQUADS)
    with pytest.raises(OptionError, match=r"holds no stream file\n.*its folders do: '.*/\*\*/\*\.nq'"):
        open_source(tmp_path)
    assert len(read(open_source(f"{tmp_path}/**/*.nq"))[0]) == 2


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"BZh91AY&SY", "bzip2"), (b"\xfd7zXZ\x00", "xzcat"), (b"\x28\xb5\x2f\xfd", "zstdcat"), (b"PK\x03\x04", "Excel"),
        ("time,v\n1,2\n".encode("utf-16"), "iconv"), (b"Obj\x01", "Avro"),
    ],
)  # fmt: skip
def test_what_is_often_given_and_never_read_is_named(tmp_path: Path, head: bytes, told: str) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(head)
    letters: list[DeadLetter] = []
    source = open_source(path, lift=MappedReaders(load_mapping("time: $(time)\nmappings: {r: {po: [[http://e/v, $(v)]]}}")))
    assert not list(source.batches(KEY, 0, letters.append))
    [letter] = letters
    assert letter.source == str(path) and told in letter.reason and letter.text == ""


def test_date_time_events(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    path.write_text(at_time("e", f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>') + quad("e"))
    assert survey(open_source(path)).kind is TimeKind.DATETIME
    assert survey(open_source(path), TimeKind.INTEGER).events == 0
