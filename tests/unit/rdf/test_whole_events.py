"""A version of a graph is whole or nothing, however much of it, or of what stands around it, cannot be read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import scepter
from scepter.rdf.batch import DeadLetter

QUERY = (
    "PREFIX : <http://e/> SELECT * FROM NAMED :S WIN [RANGE 5] AS :w "
    "WHERE { WINDOW :w { ?x :on ?y } GRAPH :roads { ?y :is ?z } }"
)
STAMP = "<http://www.w3.org/ns/prov#generatedAtTime>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
MANY = 5_000
SAMPLE = 100
"""So many letters of a kind are told one by one: by default a thousand, which is all that a result keeps."""
LEFT_OUT = "has lines that cannot be read: the last good one stays"
NAMED, CUT, LONG, ODD, BROKEN = "named", "cut", "long", "odd", "broken"


def timed(name: str, time: int) -> str:
    return f'<urn:{name}> {STAMP} "{time}"^^{INTEGER} .\n'


def road(name: str, road: str) -> str:
    return f"<http://e/{road}> <http://e/is> <http://e/open> <urn:{name}> .\n"


def version(name: str, time: int, between: str = "") -> str:
    """Two roads, and something between them."""
    return timed(name, time) + road(name, f"{name}a") + between + road(name, f"{name}b")


def bad(name: str, how: str = NAMED, count: int = MANY) -> str:
    """Lines that cannot be read: that tell whose they are, that do not, that are longer than a letter shows, and whose name is
    none."""
    lines = {
        NAMED: f"<http://e/r> <http://e/is> <http://e/a b> <urn:{name}> .\n",
        CUT: '<http://e/r> <http://e/is> "open\n',
        ODD: "<http://e/r> <http://e/is> <http://e/open> <urn:{}> .\n",
        BROKEN: "<http://e/r> <http://e/is> <http://e/open> <urn:\\uD800> .\n",
        LONG: f'<http://e/r> <http://e/is> "{"x" * 2_000}"^^<bad> <urn:{name}> .\n',
    }
    return lines[how] * count


def seen(tmp_path: Path, versions: str) -> tuple[list[tuple[int, str]], list[DeadLetter]]:
    """Which roads are open at 5, 15 and 25, and what is told."""
    (tmp_path / "roads.nq").write_text(versions)
    agents = [
        scepter.Event("http://e/S", f":a{time} :on :v{number}{part} .", time, prefixes={"": "http://e/"})
        for time in (5, 15, 25)
        for number in (1, 2, 3)
        for part in "ab"
    ]
    given = {"roads": tmp_path / "roads.nq"}
    found = scepter.parse(QUERY).run(agents, versions=given, limits={"letters": SAMPLE})
    rows = [(match.end, str(match.bindings["y"]).removeprefix("<http://e/").rstrip(">")) for match in found]
    return rows, found.dead_letters


FIRST_STAYS = [(5, "v1a"), (5, "v1b"), (15, "v1a"), (15, "v1b"), (25, "v3a"), (25, "v3b")]


@pytest.mark.parametrize("how", [NAMED, CUT, LONG, ODD, BROKEN])
@pytest.mark.parametrize("count", [1, MANY])
def test_a_version_with_bad_lines_is_left_out_and_the_last_good_one_stays(tmp_path: Path, how: str, count: int) -> None:
    texts = version("v1", 1), version("v2", 10, bad("v2", how, count)), version("v3", 20)
    found, letters = seen(tmp_path, "".join(texts))
    assert found == FIRST_STAYS
    assert [letter.reason for letter in letters if LEFT_OUT in letter.reason] == [f"the version <urn:v2> {LEFT_OUT}"]
    assert sum(letter.count for letter in letters) == count + 1
    assert len(letters) <= min(count, SAMPLE) + 3


@pytest.mark.parametrize("how", [NAMED, CUT])
def test_bad_lines_before_it_hide_no_bad_version(tmp_path: Path, how: str) -> None:
    junk = "<http://e/r> <http://e/is> <http://e/a b> <urn:nobody> .\n" * MANY
    texts = version("v1", 1, bad("v1", how)), junk, version("v2", 10, bad("v2", how, 1)), version("v3", 20)
    found, letters = seen(tmp_path, "".join(texts))
    assert found == [(25, "v3a"), (25, "v3b")]
    assert [letter.reason.split()[2] for letter in letters if LEFT_OUT in letter.reason] == ["<urn:v1>", "<urn:v2>"]


def test_the_first_line_of_a_version_is_its_own(tmp_path: Path) -> None:
    texts = version("v1", 1), bad("v2", NAMED, 1), version("v2", 10), version("v3", 20)
    assert seen(tmp_path, "".join(texts))[0] == FIRST_STAYS


def test_a_line_that_is_cut_off_belongs_to_the_last_version(tmp_path: Path) -> None:
    texts = version("v1", 1), version("v3", 20), version("v2", 22, "<http://e/r> <http://e/is> <http://e/op")
    assert seen(tmp_path, "".join(texts).rsplit("<http://e/v2b>", 1)[0])[0] == FIRST_STAYS


def test_a_version_that_comes_again_is_taken(tmp_path: Path) -> None:
    texts = version("v1", 1), bad("v2", NAMED, 1), road("v2", "v2a"), version("v3", 20), version("v2", 24)
    found, letters = seen(tmp_path, "".join(texts))
    assert found == [*FIRST_STAYS[:4], (25, "v2a"), (25, "v2b")]
    assert not [letter for letter in letters if LEFT_OUT in letter.reason]  # without a time it is no version at all


def test_a_log_of_messages_tells_its_versions_apart(tmp_path: Path) -> None:
    def message(name: str, time: int, first: str = "") -> str:
        body = "".join(f"<http://e/{name}{part}> <http://e/is> <http://e/open> .\n" for part in "ab")
        return f"{first}{timed(name, time)}{body}MESSAGE\n"

    texts = message("v1", 1), message("v2", 10, '<http://e/r> <http://e/is> "open\n'), message("v3", 20)
    assert seen(tmp_path, 'VERSION "1.2-messages"\n' + "".join(texts))[0] == FIRST_STAYS


def test_a_line_that_is_too_long_breaks_its_version(tmp_path: Path) -> None:
    line = f'<http://e/r> <http://e/is> "{"x" * 20_000}" <urn:v2> .\n'
    (tmp_path / "roads.nq").write_text(version("v1", 1) + version("v2", 10, line) + version("v3", 20))
    agents = [
        scepter.Event("http://e/S", f":a{time} :on :v{number}a .", time, prefixes={"": "http://e/"})
        for time in (5, 15, 25)
        for number in (1, 2, 3)
    ]
    found = scepter.parse(QUERY).run(agents, versions={"roads": tmp_path / "roads.nq"}, limits={"literal": 10_000})
    assert [match.end for match in found] == [5, 15, 25]
    assert [str(match.bindings["y"]) for match in found] == [f"<http://e/{name}>" for name in ("v1a", "v1a", "v3a")]


def test_a_document_that_does_not_parse_gives_no_version(tmp_path: Path) -> None:
    def graph(name: str, time: int, more: str = "") -> str:
        roads = "".join(f"<http://e/{name}{part}> <http://e/is> <http://e/open> . {more}\n" for part in "ab")
        return f'<urn:{name}> {STAMP} "{time}"^^{INTEGER} .\n<urn:{name}> {{\n{roads}}}\n'

    agents = [scepter.Event("http://e/S", ":a :on :v1a .", 5, prefixes={"": "http://e/"})]
    for more, wanted in (("", [5]), ("<http://e/r> <http://e/is> <http://e/a b> .", [])):
        (tmp_path / "roads.trig").write_text(graph("v1", 1, more))
        found = scepter.parse(QUERY).run(agents, versions={"roads": tmp_path / "roads.trig"})
        assert [match.end for match in found] == wanted
    assert "cannot be read: the last good one stays" in found.dead_letters[-1].reason


def test_rows_of_a_table_are_whole_too() -> None:
    def graph(name: str, more: str) -> list[dict[str, str]]:
        triples = [(f"<http://e/{name}a>", "<http://e/is>", "<http://e/open>"), (f"<http://e/{name}b>", "<http://e/is>", more)]
        return [dict(zip("spo", triple, strict=True)) for triple in triples]

    table = pa.table(
        {
            "start": [1, 10, 20],
            "end": [1, 10, 20],
            "graph": [graph("v1", "<http://e/open>"), graph("v2", "<http://e/a b>"), graph("v3", "<http://e/open>")],
        }
    )
    agents = [
        scepter.Event("http://e/S", f":a{time} :on :v{number}a .", time, prefixes={"": "http://e/"})
        for time in (5, 15, 25)
        for number in (1, 2, 3)
    ]
    found = scepter.parse(QUERY).run(agents, versions={"roads": table})
    assert [str(match.bindings["y"]) for match in found] == [f"<http://e/{name}>" for name in ("v1a", "v1a", "v3a")]
    assert any("the last good one stays" in letter.reason for letter in found.dead_letters)


def test_events_at_hand_are_whole_too() -> None:
    def event(stream: str, graph: object, time: int) -> scepter.Event:
        return scepter.Event(f"http://e/{stream}", graph, time, prefixes={"": "http://e/"})  # type: ignore[arg-type]

    roads = [event("roads", ":r1 :is :open .", 1), event("roads", ":r2 :is :open .", 20)]
    agents = [event("S", ":a :on :r1 .", 2), event("S", ":b :on :r1 .", 12), event("S", ":b :on :r2 .", 22)]
    found = scepter.parse(QUERY).run(agents, versions={"roads": roads})
    assert [match.end for match in found] == [2, 12, 22]
