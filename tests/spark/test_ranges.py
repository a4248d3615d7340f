from __future__ import annotations

import gzip
import io
from itertools import pairwise
from pathlib import Path

import pytest

from batches import KEY, PROV, XSD, Event, at_time, events_of, integer, quad, unsalted
from scepter.errors import OptionError
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import Reading, read_nquads
from scepter.runtime.spark.range_reading import event_start, first_kind, read_range
from scepter.runtime.spark.ranges import Range, cut, next_salt, plan_ranges
from scepter.timeline import TimeKind

STAMPED = f"<http://e/s> <http://e/p> <http://e/o> {integer(7)} .\n"
HALF = f"<http://e/h> <{PROV}startedAtTime> {integer(1)} .\n"
BROKEN = "<http://e/s> <http://e/p> no term <http://e/other> .\n"
COMMENT = "# a comment that names <http://e/a>\n\n"
OUTSIDE = "<http://e/s> <http://e/p> <http://e/o> .\n"
LONG = "".join(quad("long", object=integer(i)) for i in range(40)) + at_time("long", 3)


def whole(data: bytes, kind: TimeKind | None) -> tuple[list[Event], list[tuple[str, str]]]:
    letters: list[DeadLetter] = []
    reading = Reading(KEY, 0, "f", letters.append, None, ReadState(kind), 1 << 20, {})
    events = events_of(read_nquads(io.BytesIO(data), reading))
    return unsalted(events), [(letter.reason, letter.text) for letter in letters]


def in_ranges(path: Path, cuts: list[int], kind: TimeKind | None) -> tuple[list[Event], list[tuple[str, str]]]:
    size = path.stat().st_size
    edges = [0, *sorted(cuts), size]
    letters: list[DeadLetter] = []
    events: list[Event] = []
    for start, stop in pairwise(edges):
        events += events_of(read_range(Range(str(path), start, stop, size), KEY, 0, letters.append, kind=kind, batch_bytes=64))
    return unsalted(events), [(letter.reason, letter.text) for letter in letters]


TEXTS = {
    "time first": "".join(at_time(f"e{i}", i) + quad(f"e{i}") + quad(f"e{i}", object=integer(i)) for i in range(5)),
    "time last": "".join(quad(f"e{i}") + quad(f"e{i}", object=integer(i)) + at_time(f"e{i}", i) for i in range(5)),
    "stamped": STAMPED * 5,
    "stamped after an event": at_time("a", 1) + quad("a") + STAMPED + quad("a") + at_time("a", 2) + STAMPED,
    "a name that comes back": (at_time("a", 1) + quad("a") + at_time("b", 2) + quad("b")) * 2,
    "one event in pieces between rubbish": at_time("a", 1) + BROKEN + COMMENT + quad("a") + OUTSIDE + BROKEN + quad("a", "_:x"),
    "rubbish only": BROKEN + COMMENT + OUTSIDE + BROKEN,
    "rubbish before and behind": COMMENT + BROKEN + OUTSIDE + at_time("a", 1) + quad("a") + BROKEN + COMMENT + OUTSIDE,
    "faulty events": HALF + quad("h") + quad("untimed") + at_time("empty", 3) + at_time("a", '"ten"') + quad("a"),
    "a faulty stamp ends an event": quad("a") + at_time("a", 1) + STAMPED.replace('"7"', '"x"') + quad("a") + at_time("a", 2),
    "a stamp of the other kind": quad("a") + at_time("a", 1) + STAMPED.replace("integer", "date") + quad("a") + at_time("a", 2),
    "an event longer than its range": at_time("a", 1) + quad("a") + LONG + at_time("b", 9) + quad("b"),
    "names in two spellings": at_time("\\u0061", 1) + quad("a") + quad("\\u0061") + at_time("b", 2) + quad("\\U00000062"),
    "blank names": f"_:n <{PROV}generatedAtTime> {integer(1)} .\n<a:s> <a:p> _:o _:n .\n<a:s> <a:p> _:o _:m .\n"
    f"_:m <{PROV}generatedAtTime> {integer(2)} .\n",
    "many bytes per character": at_time("é", 1) + quad("é", object='"☃😀ß"') + quad("☃", object='"😀"') + at_time("☃", 2),
    "no line end at the end": (at_time("a", 1) + quad("a") + at_time("b", 2) + quad("b")).rstrip("\n"),
    "empty": "",
    "line ends only": "\n\r\n\r\r\n\n",
    "a byte order mark": "\ufeff" + at_time("a", 1) + quad("a") + "\ufeff" + at_time("a", 2) + at_time("b", 2) + quad("b"),
}


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", TEXTS)
def test_any_single_cut_gives_the_same_events(tmp_path: Path, name: str, ends: str) -> None:
    data = TEXTS[name].replace("\n", ends).encode()
    path = tmp_path / "s.nq"
    path.write_bytes(data)
    kind = first_kind([path]) or TimeKind.INTEGER
    expected = whole(data, kind)
    for at in range(0, len(data) + 1, 1 + len(data) // 150):
        assert in_ranges(path, [at], kind) == expected, at


@pytest.mark.parametrize("name", TEXTS)
def test_cuts_at_every_byte(tmp_path: Path, name: str) -> None:
    data = TEXTS[name].encode()[:900]
    path = tmp_path / "s.nq"
    path.write_bytes(data)
    assert in_ranges(path, list(range(len(data))), TimeKind.INTEGER) == whole(data, TimeKind.INTEGER)


def test_a_long_event_and_long_lines_cross_the_look_back(tmp_path: Path) -> None:
    filler = BROKEN * 2_000 + "# " + "x" * 200_000 + "\n"
    text = at_time("a", 1) + quad("a") + filler + quad("a", object='"' + "y" * 150_000 + '"') + at_time("b", 2) + quad("b")
    path = tmp_path / "s.nq"
    path.write_text(text)
    expected = whole(text.encode(), TimeKind.INTEGER)
    assert len(expected[0]) == 2
    for at in range(0, len(text), len(text) // 23):
        assert in_ranges(path, [at], TimeKind.INTEGER) == expected


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_line_across_the_end_of_a_block(ends: str) -> None:
    first = at_time("a", 1) + quad("a")
    for short in range(0, 120, 5):
        text = (first + "#" * ((1 << 16) - short) + "\n" + at_time("b", 2) + quad("b")).replace("\n", ends).encode()
        file = io.BytesIO(text)
        assert event_start(file, len(first.replace("\n", ends)), len(text)) == text.index(b"<http://e/b>")
        lines = (first + (quad("a") * 900)[: (1 << 16) - short].rpartition("\n")[0] + "\n" + at_time("b", 2)).replace(
            "\n", ends
        )
        assert event_start(io.BytesIO(lines.encode()), 5, len(lines)) == lines.index("<http://e/b>")


def test_event_start_stops_looking_where_it_is_enough() -> None:
    text = (at_time("a", 1) + quad("a") * 5_000 + at_time("b", 2) + quad("b")).encode()
    file = io.BytesIO(text)
    far = text.index(b"<http://e/b>")
    assert event_start(file, 1_000, len(text)) == far
    assert 70_000 <= event_start(file, 1_000, len(text), 70_000) < far


def test_a_file_that_has_grown_counts_as_long_as_it_was_planned(tmp_path: Path) -> None:
    text = at_time("a", 1) + quad("a")
    path = tmp_path / "s.nq"
    path.write_text(text + quad("a", object=integer(2)) + at_time("b", 1) + quad("b"))
    size = len(text)
    found = events_of(read_range(Range(str(path), 0, size, size), KEY, 0, lambda letter: None))
    assert [(name, len(triples)) for _, _, name, triples in found] == [("<http://e/a>", 1)]


def test_dead_letters_say_from_which_byte_lines_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.nq"
    first = at_time("a", 1) + quad("a")
    path.write_text(first + at_time("b", 2) + quad("b") + BROKEN)
    size = path.stat().st_size
    letters: list[DeadLetter] = []
    assert len(events_of(read_range(Range(str(path), 5, size, size), KEY, 0, letters.append))) == 1
    assert [(letter.source, letter.line) for letter in letters] == [(f"{path} from byte {len(first)}", 3)]


def test_blank_nodes_of_different_ranges_and_files_never_meet(tmp_path: Path) -> None:
    text = "".join(at_time(f"e{i}", i) + quad(f"e{i}", "_:x") for i in range(9))
    names = [tmp_path / name for name in ("a.nq", "b.nq.gz", "c.nq")]
    names[0].write_text(text)
    names[1].write_bytes(gzip.compress(text.encode()))
    names[2].write_text(text)
    ranges = plan_ranges(names, parts=8, at_least=100)
    assert len(ranges) > 5
    subjects = [
        triple[0]
        for part in ranges
        for _, _, _, triples in events_of(read_range(part, KEY, 0, lambda letter: None))
        for triple in triples
    ]
    assert len(subjects) == len(set(subjects)) == 27
    assert next_salt(ranges) > max(part.salt for part in ranges)
    assert all(left.salt + (left.stop - left.start) <= right.salt for left, right in pairwise(ranges))


def test_plans_cut_lines_and_nothing_else(tmp_path: Path) -> None:
    text = (at_time("a", 1) + quad("a")) * 50
    for name in ("a.nq", "b.trig", "empty.nq", "sniffed"):
        (tmp_path / name).write_text("" if name == "empty.nq" else text)
    (tmp_path / "packed.nq").write_bytes(gzip.compress(text.encode()))
    paths = sorted(tmp_path.iterdir())
    ranges = plan_ranges(paths, parts=100, at_least=1_000)
    pieces = -(-len(text) // 1_000)
    counts = {path.name: sum(Path(part.path) == path for part in ranges) for path in paths}
    assert counts == {"a.nq": pieces, "b.trig": 1, "empty.nq": 0, "packed.nq": 1, "sniffed": pieces}
    mine = [part for part in ranges if part.path.endswith("a.nq")]
    assert [part.start for part in mine[1:]] == [part.stop for part in mine[:-1]]
    assert (mine[0].start, mine[-1].stop) == (0, len(text))


def test_plans_follow_the_parts_and_the_least_size(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    path.write_text((at_time("a", 1) + quad("a")) * 100)
    assert len(plan_ranges([path], parts=4, at_least=1)) == 4
    assert len(plan_ranges([path], parts=4)) == 1
    assert plan_ranges([]) == []
    with pytest.raises(OptionError, match="cannot be read"):
        plan_ranges([tmp_path / "none.nq"])


def test_paths_hold_for_workers_in_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.nq").write_text(at_time("a", 1) + quad("a"))
    monkeypatch.chdir(tmp_path)
    assert [part.path for part in plan_ranges(["a.nq"])] == [str(tmp_path / "a.nq")]


def test_ranges_are_checked() -> None:
    for start, stop, size in ((-1, 2, 3), (2, 1, 3), (0, 4, 3)):
        with pytest.raises(ValueError, match="no range"):
            Range("a", start, stop, size)
    assert cut(Range("a", 0, 0, 0), 5) == [Range("a", 0, 0, 0)]


def test_the_first_time_tells_the_kind(tmp_path: Path) -> None:
    stamp = f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>'
    (tmp_path / "a.nq").write_text(quad("x") + "rubbish\n")
    (tmp_path / "b.trig").write_text(f"<a:e> <{PROV}generatedAtTime> {stamp} . <a:e> {{ <a:s> <a:p> 1 }}")
    (tmp_path / "c.nq").write_text(at_time("a", 1) + quad("a"))
    assert first_kind([tmp_path / "a.nq"]) is None
    assert first_kind([tmp_path / name for name in ("a.nq", "b.trig", "c.nq")]) is TimeKind.DATETIME
    assert first_kind([tmp_path / "c.nq", tmp_path / "b.trig"]) is TimeKind.INTEGER
