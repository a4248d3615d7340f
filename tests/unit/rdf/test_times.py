"""Times where they stand: properties of the user's own vocabulary, about an event's name or inside its graph."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from batches import KEY, PROV, XSD, at_time, events_of, integer, quad, read
from scepter.errors import OptionError
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.times import PRESETS, TimeProperties, time_in
from scepter.rdf.untimed import candidates, no_times
from scepter.timeline import TimeKind

RESULT_TIME = "<http://www.w3.org/ns/sosa/resultTime>"
Found = tuple[list[tuple[int, int]], list[str]]


def times(text: str, *properties: str, batch_bytes: int = 1 << 20) -> Found:
    """The intervals of the events of a text, and the reasons of its dead letters."""
    letters: list[DeadLetter] = []
    run = ReadState(times=TimeProperties.of(properties))
    reader = NQuadsReader(KEY, 0, "f", letters.append, run=run, batch_bytes=batch_bytes)
    found = events_of([reader.feed(text.encode()), reader.finish()])
    return [event[:2] for event in found], [letter.reason for letter in letters]


def inside(name: str, time: str, property: str = RESULT_TIME, subject: str = "<http://e/s>") -> str:
    return quad(name, subject, property, time)


def test_a_time_inside_the_graph_is_a_triple_of_it_too() -> None:
    run = ReadState(times=TimeProperties.of("sosa"))
    reader = NQuadsReader(KEY, 0, "f", print, run=run)
    reader.feed((quad("e1") + inside("e1", integer(5))).encode())
    [(start, end, name, triples)] = events_of([reader.finish()])
    assert (start, end, name, len(triples)) == (5, 5, "<http://e/e1>", 2)


def test_without_the_option_a_time_inside_is_only_data() -> None:
    assert times(quad("e1") + inside("e1", integer(5))) == ([], ["an event without a time"])


def test_about_the_name_in_the_default_graph() -> None:
    assert times(f"<http://e/e1> {RESULT_TIME} {integer(7)} .\n" + quad("e1"), "sosa") == ([(7, 7)], [])


def test_the_first_property_named_rules() -> None:
    text = inside("e1", integer(1), "<http://e/made>") + inside("e1", integer(2), "<http://e/sent>")
    assert times(text, "http://e/made", "http://e/sent")[0] == [(1, 1)]
    assert times(text, "http://e/sent", "http://e/made")[0] == [(2, 2)]
    assert times(text, "<http://e/sent>")[0] == [(2, 2)]
    assert times(inside("e1", integer(3)), "sosa:resultTime")[0] == [(3, 3)]


def test_a_bad_time_of_a_lower_rank_is_not_looked_at() -> None:
    bad = inside("e1", "<http://e/instant>", "<http://www.w3.org/ns/sosa/phenomenonTime>")
    for text in (bad + inside("e1", integer(3)), inside("e1", integer(3)) + bad):
        assert times(text, "sosa") == ([(3, 3)], [])
    assert times(bad, "sosa") == ([], ["a time that is neither an xsd:dateTime nor an integer"])


def test_two_different_times_of_one_property() -> None:
    assert times(inside("e1", integer(1)) + inside("e1", integer(2)), "sosa") == ([], ["an event with two times"])
    assert times(inside("e1", integer(1)) + inside("e1", integer(1), subject="<http://e/t>"), "sosa") == ([(1, 1)], [])


@pytest.mark.parametrize(
    "literal",
    [
        '"1970-01-01T00:00:02Z"',
        f'"1970-01-01T00:00:02Z"^^<{XSD}dateTime>',
        '"1970-01-01T00:00:02Z"^^<https://uri.etsi.org/ngsi-ld/DateTime>',
        '"1970-01-01T00:00:0\\u0032Z"',
        '"1970-01-01T01:00:02+01:00"',
    ],
)
def test_plain_strings_and_datatypes_of_a_vocabulary_are_read(literal: str) -> None:
    assert times(inside("e1", literal), "sosa") == ([(2_000_000, 2_000_000)], [])


def test_a_named_property_takes_no_text_that_is_no_time() -> None:
    for literal in ('"yesterday"', '"1.5"', '"2026-01-01"', '""', "_:b"):
        assert times(inside("e1", literal), "sosa")[1] == ["a time that is neither an xsd:dateTime nor an integer"]


def test_intervals_of_a_vocabulary() -> None:
    space = "https://www.w3.org/ns/activitystreams#"
    both = inside("e1", integer(1), f"<{space}startTime>") + inside("e1", integer(4), f"<{space}endTime>")
    assert times(both, "activitystreams") == ([(1, 4)], [])
    assert times(both + inside("e1", integer(9), f"<{space}published>"), "activitystreams") == ([(9, 9)], [])


def test_triples_without_a_graph_are_events_by_subject() -> None:
    lines = "<http://e/o{}> <http://e/value> {} .\n<http://e/o{}> {} {} .\n"
    text = "".join(lines.format(i, integer(i), i, RESULT_TIME, integer(10 * i)) for i in (1, 2, 3))
    run = ReadState(times=TimeProperties.of("sosa"))
    reader = NQuadsReader(KEY, 0, "f", print, run=run)
    reader.feed(text.encode())
    found = events_of([reader.finish()])
    assert [(event[0], event[2], len(event[3])) for event in found] == [
        (10, "<http://e/o1>", 2),
        (20, "<http://e/o2>", 2),
        (30, "<http://e/o3>", 2),
    ]


def test_prov_as_a_preset_reads_what_the_default_reads() -> None:
    text = at_time("e1", 3) + quad("e1") + quad("e2") + at_time("e2", 5)
    assert times(text, "prov")[0] == [event[:2] for event in read(text)[0]]


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_each_preset_finds_its_own_properties(preset: str) -> None:
    for ranked in PRESETS[preset]:
        if ranked.instant is not None:
            assert times(inside("e1", integer(8), f"<{ranked.instant}>"), preset) == ([(8, 8)], [])


@pytest.mark.parametrize("given", ["", "soza", "resultTime", "sosa:resultTime>", "http://e/a b", "http://e/<"])
def test_what_is_no_property(given: str) -> None:
    with pytest.raises(OptionError, match="time_property cannot be"):
        TimeProperties.of([given])


@pytest.mark.parametrize("seed", range(30))
def test_the_scanner_agrees_with_the_slow_reading(seed: int) -> None:
    draw = random.Random(seed)
    ranked = ("http://e/a", "activitystreams", "http://e/b")
    space = "https://www.w3.org/ns/activitystreams#"
    properties = ["http://e/a", "http://e/b", "http://e/c", space + "startTime", space + "endTime", space + "published"]
    literals = [integer(1), integer(2), '"3"', '"x"', f'"4"^^<{XSD}int>', "<http://e/o>"]
    for _ in range(20):
        triples = [("<http://e/s>", f"<{draw.choice(properties)}>", draw.choice(literals)) for _ in range(draw.randrange(1, 5))]
        found, _ = times("".join(quad("e1", *triple) for triple in triples), *ranked, batch_bytes=draw.choice([64, 1 << 20]))
        try:
            expected = time_in(triples, TimeProperties.of(ranked))
        except ValueError:
            expected = None
        assert found == ([] if expected is None else [expected[:2]]), triples
        assert expected is None or expected[2] is TimeKind.INTEGER


def test_candidates_are_typed_times_first(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    stamp = f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>'
    path.write_text(
        inside("e1", '"1767225600"', "<http://e/timestamp>")
        + inside("e1", stamp)
        + inside("e1", '"7"', "<http://e/time-served>")
        + "no line at all\n"
    )
    assert candidates([(path, None), (tmp_path / "missing.nq", None)]) == [
        "http://www.w3.org/ns/sosa/resultTime",
        "http://e/timestamp",
    ]
    assert str(no_times([(path, None)], TimeProperties())) == (
        "error[no-times]: no event of the input has a time: none has prov:generatedAtTime, or prov:startedAtTime and "
        "prov:endedAtTime\nnote: times were seen as <http://www.w3.org/ns/sosa/resultTime>, <http://e/timestamp>\n"
        "help: add time_property sosa"
    )
    path.write_text(quad("e1"))
    assert str(no_times([(path, None)], TimeProperties.of(["sosa", "http://e/t"]))) == (
        "error[no-times]: no event of the input has a time: none has sosa, http://e/t\nnote: no property with a time was seen\n"
        "help: name the property of their times by time_property, or give them times: assign_time sequence"
    )


def test_prov_is_a_namespace_of_presets() -> None:
    assert TimeProperties().iris == (PROV + "generatedAtTime", PROV + "startedAtTime", PROV + "endedAtTime")
