"""Rows to events: YARRRML, times, names and groups, dead letters, what is read at all, the same events from every format."""

from __future__ import annotations

import csv
import datetime
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batches import KEY, Event, events_of
from scepter.errors import OptionError
from scepter.io.mapped import MappedEvents
from scepter.lift.lifter import Lifter
from scepter.lift.load import load_mapping, read_mapping
from scepter.lift.reader import MappedReaders, table_batches
from scepter.lift.suggest import suggested
from scepter.lift.tables import csv_rows
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import Reading
from scepter.rdf.times import PROV_TIMES, TimeProperties

XSD = "http://www.w3.org/2001/XMLSchema#"
EX = "http://example/"
READING = """\
prefixes: {ex: "http://example/"}
time: $(time)
mappings:
  reading:
    s: ex:$(sensor)
    po:
      - [ex:value, $(value), xsd:integer]
"""
Found = tuple[list[Event], list[tuple[int | None, str]]]


def lift(data: bytes | str, mapping: str = READING, extension: str = ".csv", **asked: Any) -> Found:
    """The events of a file, and the dead letters as (line, reason)."""
    letters: list[DeadLetter] = []
    reading = Reading(
        KEY, 0, "f", letters.append, asked.get("predicates"), asked.get("run", ReadState()), 1 << 20, {}
    )  # fmt: skip
    reader = MappedReaders(read_mapping(mapping, "m.yml")).reader(extension)
    assert reader is not None
    raw = data.encode() if isinstance(data, str) else data
    return events_of(reader(io.BytesIO(raw), reading)), [(letter.line, letter.reason) for letter in letters]


def test_the_example_of_the_manual() -> None:
    events, letters = lift("time,sensor,value\n2026-01-01T00:00:00Z,s 1,7\n2026-01-01T00:00:01Z,s2,\n")
    start = 1767225600 * 10**6
    assert events == [
        (start, start, None, [(f"<{EX}s%201>", f"<{EX}value>", f'"7"^^<{XSD}integer>')]),
        (start + 10**6, start + 10**6, None, []),
    ]
    assert letters == []


@pytest.mark.parametrize(
    ("times", "section", "expected"),
    [
        (["5", "-7"], "", [5, -7]),
        (["1970-01-01T00:00:01Z", "1970-01-01T01:00:01+01:00"], "", [10**6, 10**6]),
        (["1970-01-01 00:00:01", "1970-01-01", "19700101T000001Z"], "", [10**6, 0, 10**6]),
        (["01.01.1970 00:00:02"], "time-format: '%d.%m.%Y %H:%M:%S'", [2 * 10**6]),
        (["01.01.1970 02:00"], "time-format: '%d.%m.%Y %H:%M'\ntime-zone: Europe/Berlin", [3600 * 10**6]),
        (["1970-01-01 02:00:00", "1970-01-01T02:00:00Z"], "time-zone: Europe/Berlin", [3600 * 10**6, 7200 * 10**6]),
        (["2", "2.5", "-1"], "time-unit: s", [2 * 10**6, 2_500_000, -(10**6)]),
        (["1500"], "time-unit: ms", [1_500_000]),
    ],
)
def test_times_as_they_are_written(times: list[str], section: str, expected: list[int]) -> None:
    rows = "".join(f"{time},s,1\n" for time in times)
    events, letters = lift(f"time,sensor,value\n{rows}", f"{section}\n{READING}")
    assert [event[0] for event in events] == expected
    assert letters == []


def test_a_time_of_two_fields() -> None:
    mapping = READING.replace("$(time)", "$(day)T$(hour)Z")
    events, _ = lift("day,hour,sensor,value\n1970-01-01,00:00:03,s,1\n", mapping)
    assert events[0][0] == 3 * 10**6


def test_intervals_and_what_is_wrong_with_times() -> None:
    mapping = READING.replace("time: $(time)", "time: $(time)\nend: $(until)")
    rows = "1,5,a,1\n5,1,b,1\n,3,c,1\n2,,d,1\nsoon,9,e,1\n3,1970-01-01T00:00:00Z,f,1\n6,6,g,1\n"
    events, letters = lift(f"time,until,sensor,value\n{rows}", mapping)
    assert [event[:2] for event in events] == [(1, 5), (6, 6)]
    assert letters == [
        (3, "an event that ends before it starts"),
        (4, "time is empty or absent, which is no time"),
        (5, "until is empty or absent, which is no time"),
        (6, "'soon' of time is no time"),
        (7, "a dateTime among integer times, or an integer among dateTimes"),
    ]


def test_a_graph_without_a_field_names_every_row_and_joins_none() -> None:
    events, letters = lift("time,sensor,value\n1,a,1\n1,b,2\n4,a,3\n", READING + "    graphs: ex:all\n")
    assert [(event[0], event[2], len(event[3])) for event in events] == [(time, f"<{EX}all>", 1) for time in (1, 1, 4)]
    assert letters == []


def test_rows_of_one_name_that_stand_together_are_one_event() -> None:
    mapping = READING.replace("time: $(time)", "time: $(time)\nevent: ex:e/$(batch)")
    rows = "1,a,s1,1\n1,a,s2,2\n1,a,s2,2\n2,b,s1,3\n3,a,s1,4\n4,b,s1,5\n9,b,s1,6\n,c,s1,1\n8,,s1,1\n"
    events, letters = lift(f"time,batch,sensor,value\n{rows}", mapping)
    assert [(event[0], event[2], len(event[3])) for event in events] == [
        (1, f"<{EX}e/a>", 2), (2, f"<{EX}e/b>", 1), (3, f"<{EX}e/a>", 1), (4, f"<{EX}e/b>", 1),
    ]  # fmt: skip
    assert sorted(letters, key=str) == [
        (10, "an event without a name: a field of it is empty"),
        (8, "a row whose event has another time"),
        (9, "time is empty or absent, which is no time"),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_groups_do_not_depend_on_where_blocks_are_cut(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    mapping = READING.replace("time: $(time)", "time: $(time)\nevent: $(time)")
    rows = "".join(f"{i // draw.choice([1, 2, 3])},s{i % 3},{i}\n" for i in range(200))
    whole = lift(f"time,sensor,value\n{rows}", mapping)
    monkeypatch.setattr("scepter.lift.records._BLOCK", draw.randrange(20, 200))
    assert lift(f"time,sensor,value\n{rows}", mapping) == whole
    lines = "".join(
        json.dumps(dict(zip(("time", "sensor", "value"), line.split(","), strict=True))) + "\n" for line in rows.split()
    )
    assert lift(lines, mapping, ".jsonl")[0] == whole[0]
    monkeypatch.setattr("scepter.lift.documents._ROWS", draw.randrange(1, 20))
    assert lift(lines, mapping, ".jsonl")[0] == whole[0]


def test_the_graph_of_the_triples_names_the_event() -> None:
    events, _ = lift("time,sensor,value\n1,s,1\n2,s,1\n", READING.replace("    po:", "    graphs: ex:g/$(time)\n    po:"))
    assert [event[2] for event in events] == [f"<{EX}g/1>", f"<{EX}g/2>"]
    with pytest.raises(OptionError, match="an event is one graph"):
        lift("", READING.replace("    po:", "    graphs: [ex:g, ex:h]\n    po:"))


def test_blank_nodes_of_two_events_are_two() -> None:
    mapping = READING.replace("s: ex:$(sensor)", "s: _:$(sensor)").replace(
        "po:", "po:\n      - [ex:same, _:$(sensor)]\n      - [ex:fixed, _:x]"
    )
    events, _ = lift("time,sensor,value\n1,a b,1\n2,a b,1\n", mapping)
    first, second = ({triple[0] for triple in event[3]} for event in events)
    assert first == {"_:b1xa_20_b"} and second == {"_:b2xa_20_b"}


def test_a_mapping_without_subjects_has_a_blank_node_for_each_row() -> None:
    mapping = READING.replace("    s: ex:$(sensor)\n", "").replace("time: $(time)", "time: $(time)\nevent: $(time)")
    events, _ = lift("time,sensor,value\n1,a,1\n1,a,2\n", mapping)
    assert len({triple[0] for triple in events[0][3]}) == 2


# ---------------------------------------------------------------- what is read


def test_only_the_fields_that_are_asked_for_are_read() -> None:
    mapping = read_mapping(READING + "      - [ex:note, $(note)]\n      - [ex:room, ex:$(room)]\n", "m")
    wanted = frozenset({term_id(KEY, f"<{EX}note>")})
    assert set(Lifter(mapping, None, KEY, wanted, PROV_TIMES).needed) == {"sensor", "note", "time"}
    assert set(Lifter(mapping, None, KEY, None, PROV_TIMES).needed) == {"sensor", "value", "note", "room", "time"}
    assert set(Lifter(mapping, None, KEY, frozenset(), PROV_TIMES).needed) == {"time"}


def test_what_nobody_asks_for_leaves_the_events() -> None:
    wanted = frozenset({term_id(KEY, f"<{EX}other>")})
    assert lift("time,sensor,value\n1,s,1\n", predicates=wanted)[0] == [(1, 1, None, [])]


def test_predicates_made_of_fields_are_looked_at_one_by_one() -> None:
    mapping = READING.replace("[ex:value,", "[ex:$(kind),")
    text = "time,sensor,kind,value\n1,s,a,1\n2,s,b,2\n"
    wanted = frozenset({term_id(KEY, f"<{EX}b>")})
    assert [len(event[3]) for event in lift(text, mapping, predicates=wanted)[0]] == [0, 1]


def test_a_time_among_the_triples() -> None:
    mapping = READING.replace("time: $(time)\n", "") + "      - [sosa:resultTime, $(time), xsd:dateTime]\n"
    run = ReadState(times=TimeProperties.of("sosa"))
    events, _ = lift("time,sensor,value\n1970-01-01T00:00:01Z,s,1\n", mapping, run=run)
    assert [(event[0], len(event[3])) for event in events] == [(10**6, 2)]
    with pytest.raises(OptionError, match="does not say which field is the time") as refused:
        lift("time,sensor,value\n", mapping)
    assert refused.value.diagnostic.help == "add time: $(time)"


# ---------------------------------------------------------------- bad input


def test_a_missing_column_is_told_once_and_the_rest_goes_on() -> None:
    events, letters = lift("time,sensor,vlaue\n1,s,1\n2,s,1\n")
    assert [len(event[3]) for event in events] == [0, 0]
    assert letters == [(1, "there is no column value; did the mapping mean vlaue?")]
    assert lift("a,b\n1,2\n")[0] == []


def test_lines_of_dead_letters_count_line_ends_in_cells_and_empty_lines() -> None:
    text = 'time,sensor,value\n1,"a\nb",1\n\n2,s,x\n3,s\n4,s,y\n"5\n'
    events, letters = lift(text)
    assert [event[0] for event in events] == [1, 2, 4]
    assert (5, "'x' of value is no xsd:integer") in letters
    assert (6, "2 cells where the heading has 3") in letters
    assert (7, "'y' of value is no xsd:integer") in letters


def test_bytes_that_are_no_text() -> None:
    events, letters = lift(b"time,sensor,value\n1,s,1\n2,\xff\xfe,1\n3,s,1\n")
    assert [event[0] for event in events] == [1, 3]
    assert letters == [(3, "bytes that are not UTF-8")]


def test_empty_lines_before_the_heading() -> None:
    events, letters = lift("\n\r\ntime,sensor,value,sensor\n1,s,1,t\n2,s,x,t\n")
    assert [event[0] for event in events] == [1, 2]
    assert letters == [(5, "'x' of value is no xsd:integer")]


@pytest.mark.filterwarnings("error")
def test_a_row_with_too_many_cells_that_is_not_utf_8_is_told_once() -> None:
    events, letters = lift(b"time,sensor,value\n1,s,1\n2,\xff,1,9\n3,s,1\n")
    assert [event[0] for event in events] == [1, 3]
    assert letters == [(3, "bytes that are not UTF-8")]


@pytest.mark.parametrize("value", ["1.5", "", "٣", "1e3", "0x1", " 1"])
def test_values_that_are_no_integers(value: str) -> None:
    events, letters = lift(f"time,sensor,value\n1,s,{value}\n")
    assert [len(event[3]) for event in events] == [0]
    assert letters == ([] if not value else [(2, f"{value!r} of value is no xsd:integer")])


@pytest.mark.parametrize(
    ("datatype", "good", "bad"),
    [
        ("xsd:decimal", ["1", "-1.50", "+.5"], ["1e3", "x"]),
        ("xsd:double", ["1e3", "INF", "NaN", "-1"], ["inf", "1,5"]),
        ("xsd:boolean", ["true", "false", "0", "1"], ["True", "yes", "2"]),
        ("xsd:dateTime", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00"], ["2026-01-01", "soon"]),
        ("xsd:byte", ["127", "-128"], ["128", "a"]),
        ("ex:own", ["anything", "at all"], []),
    ],
)
def test_values_are_checked_by_their_datatype(datatype: str, good: list[str], bad: list[str]) -> None:
    rows = "".join(f'1,s,"{value}"\n' for value in [*good, *bad])
    events, letters = lift(f"time,sensor,value\n{rows}", READING.replace("xsd:integer", datatype))
    assert [bool(event[3]) for event in events] == [True] * len(good) + [False] * len(bad)
    assert len(letters) == len(bad)


def test_json_that_is_cut_in_half() -> None:
    lines = '{"time": 1, "sensor": "s", "value": 1}\n{"time": 2, "sens\n{"time": 3, "sensor": "s", "value": 3}\n'
    events, letters = lift(lines, extension=".jsonl")
    assert [event[0] for event in events] == [1, 3]
    assert letters == [(2, "not JSON: Invalid control character")]
    array = '[\n{"time": 1, "sensor": "s", "value": 1},\n{"time": 2, "sensor": "s", "val'
    events, letters = lift(array, extension=".json")
    assert [event[0] for event in events] == [1]
    assert [line for line, _ in letters] == [3]
    assert lift("", extension=".json") == ([], [])
    assert lift("nonsense", extension=".jsonl")[1][0][0] == 1


def test_a_schema_that_changes_half_way() -> None:
    first, last = {"time": 1, "sensor": "s", "value": 1}, {"time": 4, "sensor": "s", "value": "4"}
    lines = [first, {"time": "two", "sensor": 5, "value": [2]}, {"t": 3}, 7, None, last]
    events, letters = lift("".join(json.dumps(line) + "\n" for line in lines), extension=".jsonl")
    assert [(event[0], len(event[3])) for event in events] == [(1, 1), (4, 1)]
    assert [line for line, _ in letters] == [2, 3, 4, 5]


def test_parquet_that_is_none() -> None:
    events, letters = lift(b"PAR1 no", extension=".parquet")
    assert events == [] and letters[0][1].startswith("not Parquet")


# ---------------------------------------------------------------- one answer from every format


ROWS = [
    {
        "time": 10 * i,
        "sensor": f"s/{i % 3}",
        "value": i - 5,
        "rate": i / 4,
        "on": i % 2 == 0,
        "note": None if i % 4 else f'"{i}"\n',
    }
    for i in range(50)
]
FULL = (
    READING
    + """\
      - [ex:rate, $(rate), xsd:decimal]
      - [ex:on, $(on), xsd:boolean]
      - [ex:note, $(note)]
      - [ex:at, ex:place/$(sensor)/$(value)]
      - [a, ex:Reading]
"""
)


def as_bytes(extension: str) -> bytes:
    out = io.BytesIO()
    if extension in (".csv", ".tsv"):
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(ROWS[0]), delimiter="\t" if extension == ".tsv" else ",")
        writer.writeheader()
        writer.writerows({key: str(value).lower() if key == "on" else value for key, value in row.items()} for row in ROWS)
        return text.getvalue().encode()
    if extension == ".json":
        return json.dumps(ROWS, indent=1).encode()
    if extension == ".jsonl":
        return "".join(json.dumps(row) + "\r\n" for row in ROWS).encode()
    pq.write_table(pa.Table.from_pylist(ROWS), out, row_group_size=7)
    return out.getvalue()


@pytest.mark.parametrize("extension", [".tsv", ".json", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_events(extension: str) -> None:
    def plain(events: list[Event]) -> list[Event]:  # 0.0 and 0 are one decimal in two spellings
        return [(s, e, n, [(a, b, c.replace('.0"^^', '"^^')) for a, b, c in t]) for s, e, n, t in events]

    expected, letters = lift(as_bytes(".csv"), FULL)
    assert len(expected) == len(ROWS) and not letters
    assert (plain(lift(as_bytes(extension), FULL, extension)[0]), []) == (
        plain(expected),
        lift(as_bytes(extension), FULL, extension)[1],
    )


def test_tables_in_memory_and_payloads() -> None:
    mapping = read_mapping(FULL, "m")
    expected = lift(as_bytes(".parquet"), FULL, ".parquet")[0]

    def reading() -> Reading:
        return Reading(KEY, 0, "t", lambda letter: pytest.fail(letter.reason), None, ReadState(), 1 << 20, {})

    for table in (pa.Table.from_pylist(ROWS), pa.Table.from_pandas(pd.DataFrame(ROWS))):
        assert events_of(table_batches(mapping, table, reading())) == expected
    documents = [(offset, json.loads(json.dumps(row))) for offset, row in enumerate(ROWS)]
    assert len(events_of(MappedReaders(mapping).documents(documents, reading()))) == len(ROWS)


def test_timestamps_dates_and_decimals_of_tables() -> None:
    stamps = pd.to_datetime(["2026-01-01T00:00:00.5Z", "2026-01-01T00:00:01Z"], format="ISO8601")
    table = pa.Table.from_pandas(pd.DataFrame({"time": stamps, "sensor": ["a", "b"], "value": [1, 2], "seen": stamps}))
    mapping = read_mapping(READING + "      - [ex:seen, $(seen)]\n", "m")
    reading = Reading(KEY, 0, "t", lambda letter: pytest.fail(letter.reason), None, ReadState(), 1 << 20, {})
    events = events_of(table_batches(mapping, table, reading))
    assert [event[0] for event in events] == [1767225600500000, 1767225601000000]
    assert events[0][3][1][2] == f'"2026-01-01T00:00:00.500000Z"^^<{XSD}dateTime>'


def test_times_of_day_and_durations_of_tables() -> None:
    hours = pa.array([datetime.time(8, 0, 10), datetime.time(8, 0, 0, 500_000)])
    table = pa.table(
        {"time": [1, 2], "sensor": ["a", "b"], "value": [1, 2], "seen": hours, "took": pa.array([90, -1], "duration[s]")}
    )
    mapping = read_mapping(READING + "      - [ex:seen, $(seen)]\n      - [ex:took, $(took)]\n", "m")
    reading = Reading(KEY, 0, "t", lambda letter: pytest.fail(letter.reason), None, ReadState(), 1 << 20, {})
    found = [[object for _, _, object in event[3][1:]] for event in events_of(table_batches(mapping, table, reading))]
    assert found == [
        [f'"08:00:10"^^<{XSD}time>', f'"PT90S"^^<{XSD}dayTimeDuration>'],
        [f'"08:00:00.5"^^<{XSD}time>', f'"-PT1S"^^<{XSD}dayTimeDuration>'],
    ]


def test_a_column_of_structs_is_told_to_be_no_value(tmp_path: Path) -> None:
    table = pa.table({"time": [1], "sensor": ["a"], "value": [{"x": 1}]})
    pq.write_table(table, tmp_path / "r.parquet")
    told = "the column value is of type struct<x: int64>, which is no value; a path leads into it: $(value.x)"
    assert lift((tmp_path / "r.parquet").read_bytes(), extension=".parquet")[1] == [(1, told)]
    letters: list[DeadLetter] = []
    reading = Reading(KEY, 0, "t", letters.append, None, ReadState(), 1 << 20, {})
    assert len(events_of(table_batches(read_mapping(READING, "m"), table, reading))) == 1
    assert [letter.reason for letter in letters] == [told]
    inner = READING.replace("$(value)", "$(value.x)")
    assert lift((tmp_path / "r.parquet").read_bytes(), inner, ".parquet")[1] == []


def test_values_hash_as_their_texts_do() -> None:
    """`events_of` compares each id with that of the term's text."""
    hard = ['a"b', "a\\b", "é☃𝄞", "\x00\x1f", "x" * 500, "tab\there", "%", "<>", "\u2028"]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["time", "sensor", "value"], *([str(i), value, value] for i, value in enumerate(hard))])
    events, letters = lift(text.getvalue(), READING.replace(", xsd:integer", ""))
    assert len(events) == len(hard) and not letters
    tagged, _ = lift(text.getvalue(), READING.replace("xsd:integer", "EN~lang"))
    assert all(event[3][0][2].endswith("@en") for event in tagged)


# ---------------------------------------------------------------- YARRRML


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("time: $(time)", "tiem: $(time)"), "'tiem' is no key here"),
        (("ex:$(sensor)", "exx:$(sensor)"), "neither a known prefix nor a scheme"),
        (("xsd:integer", "integer"), "'integer' is no datatype"),
        (("xsd:integer", "xsd:intger"), "xsd:intger is no datatype of XSD\nhelp: did you mean xsd:integer?"),
        (("[ex:value, $(value), xsd:integer]", "[ex:value]"), "a pair is"),
        (
            ("[ex:value, $(value), xsd:integer]", "{p: ex:p, o: {mapping: x, condition: {function: equal}}}"),
            "joins between sources",
        ),
        (("[ex:value, $(value), xsd:integer]", "{p: ex:p, o: {function: ex:f}}"), "functions are not supported"),
        (
            ("[ex:value, $(value), xsd:integer]", "{p: ex:p, o: {function: ex:f, parameters: [[ex:x, $(value)]]}}"),
            "functions are not supported",
        ),
        (("    po:", "    condition: {function: ex:f}\n    po:"), "conditions are functions"),
        (("mappings:", "targets: {x: y}\nmappings:"), "targets are not supported"),
        (("time: $(time)", "time: now"), "names no field"),
        (("time: $(time)", "end: $(time)"), "there is no time beside it"),
        (("time: $(time)", "time: $(time)\ntime-unit: fortnight"), "time-unit cannot be"),
        (("time: $(time)", "time: $(time)\ntime-zone: Mars/Olympus"), "time-zone 'Mars/Olympus' is not known"),
        (("time: $(time)", "time: $(time)\nevent: ex:e"), "every row would be one event"),
        (("$(value)", "$()"), "without a name"),
        (("mappings:", "mapings:"), "did you mean mappings?"),
        (("    po:", "    sources: [[a.csv~csv], [b.csv~csv]]\n    po:"), "several sources"),
        (("    po:", "    sources: nowhere\n    po:"), "there is no source 'nowhere'"),
        (("    po:", "    sources: [[a.xml~xpath]]\n    po:"), "a source in xpath is not supported"),
        (("prefixes:", "prefixes: ["), "not YAML"),
        (("$(value)", "$(values[*])"), 'help: a reference with brackets needs quotes: "$(values[*])"'),
    ],
)
def test_what_is_wrong_with_a_mapping(change: tuple[str, str], message: str) -> None:
    assert change[0] in READING
    with pytest.raises(OptionError) as refused:
        read_mapping(READING.replace(*change), "m.yml")
    assert message in str(refused.value)
    assert "m.yml" in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ('{"time": 3, "sensor": "s", "valu": 3}', ["there is no field value: did the mapping mean valu? (told once)"]),
        ('{"time": 3, "sensor": "s", "reading": {"value": 3}}', ["there is no field value: it has reading (told once)"]),
        ('{"time": 3, "sensor": "s"}', []),
        ('{"time": 3, "sensor": "s", "valu": 3, "value": null}', []),
    ],
)
def test_documents_whose_schema_changes_are_told_of_once(changed: str, told: list[str]) -> None:
    good = '{"time": 1, "sensor": "s", "value": 1}\n'
    events, letters = lift(good + f"{changed}\n" * 3 + good.replace("1", "9"), extension=".jsonl")
    assert [len(triples) for *_, triples in events] == [1, 0, 0, 0, 1]
    assert letters == [(2, reason) for reason in told]


def test_documents_of_other_kinds_are_not_told_of() -> None:
    documents = '{"time": 1, "sensor": "s", "value": 1}\n{"time": 2, "sensor": "s", "other": 1, "more": 2}\n'
    asked = frozenset({term_id(KEY, "<http://example/value>")})
    mapping = READING + "      - [ex:other, $(other)]\n"
    assert lift(documents, mapping, ".jsonl", predicates=asked)[1] == []


def test_a_misspelt_datatype_in_rml() -> None:
    text = (
        "PREFIX rml: <http://w3id.org/rml/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
        '<#r> rml:subjectMap [ rml:template "http://e/{s}" ] ; rml:predicateObjectMap [ rml:predicate <http://e/v> ; '
        'rml:objectMap [ rml:reference "v" ; rml:datatype xsd:datetime ] ] .'
    )
    with pytest.raises(OptionError, match=r"xsd:datetime is no datatype of XSD\nhelp: did you mean xsd:date"):
        read_mapping(text, "m.ttl")
    assert read_mapping(text.replace("xsd:datetime", "<http://e/datetime>"), "m.ttl")


def test_the_ways_to_write_a_pair() -> None:
    pairs = """\
      - {p: ex:a, o: $(value)}
      - {predicates: [ex:b, ex:c], objects: [[$(value), xsd:decimal], [$(sensor), de~lang]]}
      - {p: ex:d, o: {value: "http://e/$(sensor)", type: iri}}
      - {p: ex:e, o: {value: $(value), datatype: xsd:long}}
      - {p: ex:f, o: {value: $(sensor), language: FR}}
      - [ex:g, "http://e/$(sensor)~iri"]
      - [ex:h, [$(value), $(sensor)]]
      - [ex:i, fixed text]
      - [ex:j, 5]
      - {p: ex:k, o: {mapping: reading}}
"""
    events, letters = lift("time,sensor,value\n1,s,1\n", READING + pairs)
    found = {(p[len(EX) + 1 : -1], o) for _, p, o in events[0][3]}
    assert not letters
    assert found == {
        ("value", f'"1"^^<{XSD}integer>'), ("a", '"1"'), ("b", f'"1"^^<{XSD}decimal>'), ("b", '"s"@de'),
        ("c", f'"1"^^<{XSD}decimal>'), ("c", '"s"@de'), ("d", "<http://e/s>"), ("e", f'"1"^^<{XSD}long>'), ("f", '"s"@fr'),
        ("g", "<http://e/s>"), ("h", '"1"'), ("h", '"s"'), ("i", '"fixed text"'), ("j", f'"5"^^<{XSD}integer>'),
        ("k", f"<{EX}s>"),
    }  # fmt: skip


def test_sources_of_a_mapping_are_hints() -> None:
    named = "sources: {r: {access: a.json, referenceFormulation: jsonpath, iterator: '$.rs[*]'}}\n"
    mapping = read_mapping(named + READING.replace("    po:", "    sources: r\n    po:"), "m")
    assert (mapping.hint.access, mapping.hint.formulation, mapping.iterators) == ("a.json", "json", ("$.rs[*]",))


def test_mapping_files(tmp_path: Path) -> None:
    path = tmp_path / "m.yml"
    path.write_text(READING)
    assert load_mapping(path).references == ("sensor", "value", "time")
    assert load_mapping(READING).name == "mapping"
    with pytest.raises(OptionError, match="there is no file"):
        load_mapping(tmp_path / "n.yml")


# ---------------------------------------------------------------- suggestions and blocks


def test_a_suggested_mapping_makes_events_of_its_file() -> None:
    text = as_bytes(".csv")
    mapping = suggested(io.BytesIO(text), ".csv", "rows.csv")
    assert "time: $(time)" in mapping and "s: ex:$(sensor)" in mapping and "[ex:rate, $(rate), xsd:decimal]" in mapping
    events, letters = lift(text, mapping)
    assert len(events) == len(ROWS) and not letters
    for extension in (".jsonl", ".json", ".parquet"):
        assert lift(as_bytes(extension), suggested(io.BytesIO(as_bytes(extension)), extension, "rows"), extension)[1] == []


def test_suggestions_look_into_documents_and_at_epochs() -> None:
    document = {"ts": 1767225600123, "device": {"id": "d1"}, "tags": ["a"], "reading": {"temp c": 20.5}}
    mapping = suggested(io.BytesIO(json.dumps(document).encode()), ".json", "x.json")
    assert "time: $(ts)\ntime-unit: ms" in mapping
    assert "s: ex:$(device.id)" in mapping and "$(reading['temp c'])" in mapping and "$(tags[*])" in mapping
    assert len(lift(json.dumps(document), mapping, ".json")[0][0][3]) == 2
    with pytest.raises(OptionError, match="holds no rows"):
        suggested(io.BytesIO(b""), ".csv", "x.csv")


def test_a_suggestion_iterates_over_the_items_that_have_the_times() -> None:
    items = [{"at": f"2026-01-0{day}T00:00:00Z", "sensor": f"s{day}", "value": day} for day in (1, 2, 3)]
    document = {"meta": {"page": 1}, "data": {"all items": items[:2]}}
    text = "".join(json.dumps(each) + "\n" for each in (document, {"data": {"all items": items[2:]}}))
    mapping = suggested(io.BytesIO(text.encode()), ".json", "in/x.json")
    assert """sources: [["x.json~jsonpath", "$.data['all items'][*]"]]""" in mapping
    assert "time: $(at)" in mapping and "s: ex:$(sensor)" in mapping and "[ex:value, $(value), xsd:integer]" in mapping
    events, letters = lift(text, mapping, ".json")
    assert len(events) == 3 and not letters


@pytest.mark.parametrize(
    ("times", "form"),
    [
        (["02.03.2026 08:00", "28.03.2026 08:10"], '"%d.%m.%Y %H:%M"\n'),
        (["3/2/2026 8:00:05 AM", "3/28/2026 8:00:05 PM"], '"%m/%d/%Y %I:%M:%S %p"\n'),
        (["02/03/2026 08:00", "03/03/2026 08:10"], '"%d/%m/%Y %H:%M"        # or %m/%d/%Y %H:%M: the sample fits both\n'),
        (["10/Oct/2000:13:55:36 -0700", "10/Oct/2000:13:55:37 -0700"], '"%d/%b/%Y:%H:%M:%S %z"\n'),
        (["Mon, 02 Mar 2026 08:00:00 GMT", "Tue, 03 Mar 2026 08:00:00 GMT"], '"%a, %d %b %Y %H:%M:%S %Z"\n'),
    ],
)
def test_a_suggestion_knows_how_spreadsheets_write_times(times: list[str], form: str) -> None:
    text = "".join(f"{line}\n" for line in ["sensor,when,v", *(f's,"{time}",1' for time in times)])
    mapping = suggested(io.BytesIO(text.encode()), ".csv", "r.csv")
    assert f"time: $(when)\ntime-format: {form}" in mapping
    events, letters = lift(text, mapping)
    assert len(events) == 2 and not letters and events[0][0] < events[1][0]


def test_an_object_that_is_null_at_times_is_no_value() -> None:
    text = '{"time": 1, "id": 1, "at": {"x": 1}}\n{"time": 2, "id": 2, "at": null}\n'
    mapping = suggested(io.BytesIO(text.encode()), ".jsonl", "x.jsonl")
    assert "$(at.x)" in mapping and "$(at)" not in mapping
    assert lift(text, mapping, ".jsonl")[1] == []


def test_a_suggestion_iterates_over_items_whose_times_nobody_can_read() -> None:
    text = json.dumps({"version": 1, "data": {"items": [{"id": n, "when": "in spring", "v": n} for n in range(3)]}})
    mapping = suggested(io.BytesIO(text.encode()), ".json", "x.json")
    assert '"$.data.items[*]"' in mapping and "# time: $(field)" in mapping and "[ex:v, $(v), xsd:integer]" in mapping


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_blocks_are_cut_between_records(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.lift.records._BLOCK", block)
    rows = [[str(i), f'a"{i}\n,b' if i % 3 else "", "é" * i] for i in range(40)]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b", "c"], *rows])
    found = [table.table.to_pylist() for table in csv_rows(io.BytesIO(text.getvalue().encode()), ("a", "b", "c"), "f", print)]
    assert [list(row.values()) for part in found for row in part] == rows


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_seen_in_the_heading(delimiter: str) -> None:
    text = f"time{delimiter}sensor{delimiter}value\r\n1{delimiter}s{delimiter}7\r\n"
    assert lift(text)[0] == [(1, 1, None, [(f"<{EX}s>", f"<{EX}value>", f'"7"^^<{XSD}integer>')])]


def test_a_field_that_becomes_an_object_half_way_is_told() -> None:
    lines = [{"time": 1, "sensor": "a", "value": 2}, {"time": 2, "sensor": {"id": "b"}, "value": 3},
             {"time": 3, "sensor": "c", "value": [4, {"x": 1}]}]  # fmt: skip
    events, letters = lift("\n".join(map(json.dumps, lines)), extension=".jsonl")
    assert [len(triples) for *_, triples in events] == [1, 0, 1]
    assert letters == [
        (2, "sensor is an object where the mapping wants a value"), (3, "value is an object where the mapping wants a value"),
    ]  # fmt: skip


def test_an_object_in_the_name_of_an_event_is_told() -> None:
    data = '{"time": 1, "id": {"x": 1}, "v": 1}\n{"time": 2, "id": "b", "v": 2}\n'
    mapping = "time: $(time)\nevent: http://e/$(id)\nmappings: {r: {s: 'http://e/s', po: [[http://e/v, $(v)]]}}"
    events, letters = lift(data, mapping, ".jsonl")
    assert len(events) == 1
    assert letters == [(1, "an event without a name: id is an object where the mapping wants a value")]


def test_a_suggestion_for_orders_nested_two_deep() -> None:
    """What a document is about stands in it, not in what it speaks of; a list of objects gives the fields within."""
    orders: list[dict[str, Any]] = [
        {"id": 17, "placed": "2026-03-02T08:00:00Z", "customer": {"id": "c1", "address": {"city": "Bonn"}},
         "items": [{"sku": "a", "price": {"amount": 9.5}}, {"sku": "b", "price": {"amount": 3.0}}]},
        {"id": 18, "placed": "2026-03-02T08:03:00Z", "customer": {"id": "c2"}, "items": []},
    ]  # fmt: skip
    text = "".join(json.dumps(order) + "\n" for order in orders).encode()
    mapping = suggested(io.BytesIO(text), ".jsonl", "orders.jsonl")
    assert "s: ex:$(id)" in mapping
    for field in ("$(customer.address.city)", "$(items[*].sku)", "$(items[*].price.amount)"):
        assert field in mapping
    made = MappedEvents("orders", orders, MappedReaders(read_mapping(mapping, "m.yml")), "http://e/s")
    assert [len(event.triples) for event in made] == [6, 1]


def test_rows_of_which_nothing_is_asked_for_are_events_without_triples(monkeypatch: pytest.MonkeyPatch) -> None:
    """They still move time on. What was allocated for their triples was told without having been written."""
    empty = np.empty

    def dirty(shape: Any, *more: Any, **named: Any) -> Any:
        found = empty(shape, *more, **named)
        found.fill(7)
        return found

    monkeypatch.setattr(np, "empty", dirty)
    table = "time,sensor,value\n1,s1,7\n2,s2,8\n3,s1,9\n"
    events, letters = lift(table, predicates=frozenset({term_id(KEY, "<http://example/other>")}))
    assert events == [(time, time, None, []) for time in (1, 2, 3)]
    assert letters == []
