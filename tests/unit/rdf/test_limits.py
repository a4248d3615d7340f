"""Inputs that ask too much of their readers: too deep, too large, expanding; refused before a parser is called."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from batches import KEY, at_time, events_of, quad
from scepter.errors import OptionError, ScepterError
from scepter.io.sources import PipeSource, open_source
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import load_graph, parse_graph
from scepter.rdf.limits import BeyondLimit, ReadLimits, check_json, check_turtle, check_xml
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.timeline import LAST_INSTANT

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'


def read(path: Path, **limits: int) -> tuple[int, list[DeadLetter]]:
    letters: list[DeadLetter] = []
    run = ReadState(limits=ReadLimits.of(limits))
    return len(events_of(open_source(path).batches(KEY, 0, letters.append, run=run))), letters


def fed(text: str, chunk: int, **limits: int) -> tuple[int, list[DeadLetter]]:
    letters: list[DeadLetter] = []
    reader = NQuadsReader(KEY, 0, "t", letters.append, run=ReadState(limits=ReadLimits.of(limits)))
    raw = text.encode()
    batches = [reader.feed(raw[i : i + chunk]) for i in range(0, len(raw), chunk)]
    return len(events_of([batch for batch in [*batches, reader.finish()] if batch is not None])), letters


@pytest.mark.parametrize("opened", ['{"http://e/p":', '{"http://e/p":{"@list":[', "["])
def test_json_ld_of_five_thousand_levels_is_a_dead_letter(tmp_path: Path, opened: str) -> None:
    closed = opened.translate({ord("{"): "}", ord("["): "]"})
    closed = "".join(c for c in reversed(closed) if c in "}]")
    (tmp_path / "a.jsonld").write_text(opened * 5_000 + "1" + closed * 5_000)
    events, letters = read(tmp_path / "a.jsonld")
    assert (events, [letter.reason for letter in letters]) == (0, ["more than 200 levels of nesting (limit depth)"])


def test_brackets_in_strings_are_no_nesting() -> None:
    check_json(b'["' + b"[{" * 1_000 + rb"\"[" + b'"]', ReadLimits(depth=1))
    check_turtle(b'<a:(((> :p "((((", \'\'\'[[[\'[[\'\'\', """{{"{{""" . # (((((', ReadLimits(depth=1))


def test_what_is_side_by_side_is_not_deep() -> None:
    check_json(b"[" + b'{"a": [1]},' * 10_000 + b"{}]", ReadLimits(depth=3))
    with pytest.raises(BeyondLimit, match="levels"):
        check_json(b"[" + b'{"a": [1]},' * 10_000 + b"{}]", ReadLimits(depth=2))
    check_turtle(b"( ) [ ] { } " * 1_000_000, ReadLimits(depth=1))


@pytest.mark.parametrize(
    "junk", [b'"' * 200_001, b'"\\' * 100_000, b"'''" * 100_001, b'"""' * 100_001, b"<" * 300_000, b'\\"' * 99_999]
)
def test_checks_are_linear_in_junk(junk: bytes) -> None:
    for check in (check_json, check_turtle, check_xml):
        check(junk, ReadLimits(literal=1 << 30))


def test_static_data_that_is_too_deep_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text('{"http://e/p":' * 5_000 + "1" + "}" * 5_000)
    with pytest.raises(ScepterError, match="levels of nesting"):
        load_graph(tmp_path / "a.jsonld")
    (tmp_path / "b.rdf").write_text(f"<rdf:RDF {RDF}>" + "<e:C><e:p>" * 5_000 + "</e:p></e:C>" * 5_000 + "</rdf:RDF>")
    with pytest.raises(ScepterError, match="levels of nesting"):
        load_graph(tmp_path / "b.rdf")
    with pytest.raises(ScepterError, match="levels of nesting"):
        parse_graph("<a:b> <a:c> " + "( " * 5_000 + ") " * 5_000)


def laughs(count: int) -> str:
    declared = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, count))
    return f'<!DOCTYPE r [<!ENTITY a0 "ha">{declared}]><rdf:RDF {RDF}><e:C><e:p>&a{count - 1};</e:p></e:C></rdf:RDF>'


def test_entities_that_expand_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.rdf").write_text(laughs(12))
    with pytest.raises(ScepterError, match="expand to more than 1048576 bytes"):
        load_graph(tmp_path / "a.rdf")
    (tmp_path / "b.rdf").write_text(laughs(4))
    assert len(load_graph(tmp_path / "b.rdf")) == 2


@pytest.mark.parametrize(
    "text",
    [
        '<!ENTITY a "&b;x"><!ENTITY b "&a;y">',
        '<!ENTITY a "' + "x" * 600_000 + '"> &a;&a;',
        '<!ENTITY b "&a;&a;"><!ENTITY a "' + "x" * 600_000 + '"> &b;',
    ],
)
def test_entities_in_circles_and_many_references(text: str) -> None:
    with pytest.raises(BeyondLimit, match="expand"):
        check_xml(text.encode(), ReadLimits())


def test_xml_texts_are_bounded() -> None:
    with pytest.raises(BeyondLimit, match="literal"):
        check_xml(b"<a>" + b"x" * 101 + b"</a>", ReadLimits(literal=100))
    check_xml(b"<a><!-- <b><b><b> --><![CDATA[<c><c>]]><d x='>'/></a>", ReadLimits(depth=1))


@pytest.mark.parametrize("chunk", [7, 100, 10_000])
def test_a_line_that_is_too_long_costs_only_itself(chunk: int) -> None:
    long = quad("e1", object='"' + "x" * 500 + '"')
    text = at_time("e1", 1) + quad("e1") + long + at_time("e2", 2) + quad("e2") + "junk\n" + long
    events, letters = fed(text, chunk, literal=300)
    assert events == 2
    assert [(letter.line, letter.reason) for letter in letters if "limit" in letter.reason] == [
        (3, "a line of more than 300 bytes (limit literal)"),
        (7, "a line of more than 300 bytes (limit literal)"),
    ]
    assert [letter.line for letter in letters if "limit" not in letter.reason] == [6]


def test_a_line_without_end_needs_no_memory() -> None:
    letters: list[DeadLetter] = []
    reader = NQuadsReader(KEY, 0, "t", letters.append, run=ReadState(limits=ReadLimits(literal=1 << 20)))
    for _ in range(64):
        reader.feed(b"x" * (1 << 18))
        assert sum(map(len, reader._rest)) <= 2 << 20
    reader.feed(b"\n" + (at_time("e", 1) + quad("e")).encode())
    batch = reader.finish()
    assert batch is not None
    assert batch.events == 1
    assert len(letters) == 1


def test_lines_that_end_in_cr_alone_are_no_long_line() -> None:
    text = "".join(at_time(f"e{i}", i) + quad(f"e{i}") for i in range(200)).replace("\n", "\r")
    assert fed(text, 100, literal=300) == (200, [])


@pytest.mark.parametrize("chunk", [50, 1_000, 1 << 20])
def test_an_event_that_is_too_large_is_refused_with_all_its_lines(chunk: int) -> None:
    huge = at_time("e1", 1) + "".join(quad("e1", object=f'"{i}"') for i in range(1_000))
    text = at_time("e0", 0) + quad("e0") + huge + at_time("e2", 2) + quad("e2") + "junk\n"
    events, letters = fed(text, chunk, event=5_000)
    if chunk > len(huge):  # it was whole before anybody counted: twice the limit is what may pass
        return
    assert events == 2
    assert letters[0].reason == "an event of more than 5000 bytes (limit event)"
    assert letters[-1].line == text.count("\n")


@pytest.mark.parametrize("extension", [".trig", ".jsonld", ".timeline"])
def test_documents_are_bounded(tmp_path: Path, extension: str) -> None:
    texts = {
        ".trig": "<a:e> { <a:s> <a:p> 1 } <a:e> <http://www.w3.org/ns/prov#generatedAtTime> 1 .",
        ".jsonld": '{"@id": "a:e", "http://www.w3.org/ns/prov#generatedAtTime": {"@value": 1}, '
        '"@graph": [{"@id": "a:s", "a:p": 1}]}',
        ".timeline": "1 { <a:s> <a:p> 1 }",
    }
    path = tmp_path / f"a{extension}"
    path.write_text(texts[extension])
    assert read(path) == (1, [])
    events, letters = read(path, document=10)
    assert (events, letters[0].reason) == (0, "a document of more than 10 bytes (limit document)")
    if extension != ".timeline":
        events, letters = read(path, event=20)
        assert (events, letters[0].reason) == (0, "an event of more than 20 bytes (limit event)")


def test_junk_lines_are_sampled_and_counted() -> None:
    events, letters = fed("x\n" * 100_000 + at_time("e", 1) + quad("e"), 1 << 20, letters=10)
    assert events == 1
    assert len(letters) < 20
    assert [letter.line for letter in letters[:10]] == list(range(1, 11))
    assert sum(letter.count for letter in letters) == 100_000
    assert letters[10].line == 11


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dept": 1}, "did you mean depth"),
        ({"depth": "x"}, "is no number or size"),
        ({"depth": 0}, "is no number or size"),
        ({"depth": 5_000}, "more than a parser bears"),
        ({"literal": "1 TBB"}, "is no number or size"),
    ],
)
def test_limits_that_are_none(given: dict[str, int | str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ReadLimits.of(given)


def test_limits_as_text() -> None:
    limits = ReadLimits.of({"depth": "7", "literal": "2 MB", "event": "1g", "letters": 3})
    assert (limits.depth, limits.literal, limits.event) == (7, 2 << 20, 1 << 30)
    assert ReadLimits.read(limits.told()) == limits
    assert ReadLimits.read("") == ReadLimits()


@pytest.mark.parametrize("time", [LAST_INSTANT + 1, 2**63 - 2, 2**63 - 1, -LAST_INSTANT - 1, 2**63, 2**70])
def test_times_at_the_end_of_time_are_dead_letters(time: int) -> None:
    events, letters = fed(at_time("e", time) + quad("e"), 1 << 20)
    assert events == 0
    assert letters[0].reason.startswith("a time that does not fit into 64 bits")
    assert fed(at_time("e", LAST_INSTANT) + quad("e") + at_time("f", -LAST_INSTANT) + quad("f"), 1 << 20)[0] == 2


def test_a_timeline_with_prefixes_comes_through_a_pipe() -> None:
    letters: list[DeadLetter] = []
    pipe = PipeSource(lambda: io.BytesIO(b"PREFIX : <http://e/>\n10 { :s :p :o }\n"))
    assert len(events_of(pipe.batches(KEY, 0, letters.append))) == 1
    assert not letters
