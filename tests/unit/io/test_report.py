"""The page about a run: complete, self-contained, its counts right, its size bounded."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from scepter.cli.main import app

RUNNER = CliRunner()
VOID = frozenset({"meta", "input", "br", "img"})
QUERY = """\
PREFIX : <http://example/>
SELECT ?x ?v WITHIN 1000000
FROM STREAM S <http://example/s>
FROM STREAM T <http://example/t>
WHERE { SEQ (A; B)
  DEFINE GPM A ON S { ?x :a ?v }
  DEFINE GPM B ON T { ?x :b ?w FILTER (?w > 5) } }
"""
EVENTS = {
    "s": [
        (1, '<http://example/x> <http://example/a> "<script>alert(1)</script>"'),
        (3, "<http://example/y> <http://example/a> 2"),
    ],
    "t": [(2, "<http://example/x> <http://example/b> 7"), (9, "<http://example/y> <http://example/b> 3")],
}


class Page(HTMLParser):
    """The elements of a page; refuses what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def attributes(self, name: str, tag: str) -> Iterator[str]:
        return (str(found[name]) for element, found in self.elements if element == tag and name in found)


def write_streams(folder: Path, events: dict[str, list[tuple[int, str]]]) -> None:
    for stream, given in events.items():
        lines = []
        for number, (time, triple) in enumerate(given):
            name = f"<http://example/{stream}{number}>"
            lines.append(f"{name} <http://www.w3.org/ns/prov#generatedAtTime> {time} . {name} {{ {triple} }}")
        (folder / f"{stream}.trig").write_text("\n".join(lines))


def page_of(folder: Path, *arguments: str, query: str = QUERY) -> str:
    (folder / "q.spaseq").write_text(query)
    given = ["run", str(folder / "q.spaseq"), "--engine", "local", "--report", str(folder / "out.html"), *arguments]
    for stream in ("s", "t"):
        given += ["--stream", f"http://example/{stream}={folder / stream}.trig"]
    result = RUNNER.invoke(app, given)
    assert result.exit_code == 0, result.output
    return (folder / "out.html").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_streams(tmp_path, EVENTS)
    return tmp_path


def counts(page: Page) -> dict[str, str]:
    """The boxes at the top: what is counted -> the number."""
    texts = [text for text in page.texts if text.strip()]
    first = texts.index("Timeline")
    start = next(i for i, text in enumerate(texts) if text.endswith("run by Scepter")) + 1
    return {texts[at + 1]: texts[at] for at in range(start, first, 2)}


def test_counts_events_matches_and_where_they_stand(folder: Path) -> None:
    page = Page(page_of(folder))
    assert counts(page) == {"match": "1", "events": "4", "on S": "2", "on T": "2", "to 9": "1"}
    assert len(list(page.attributes("data-event", "rect"))) == 4
    (bar,) = page.attributes("data-events", "rect")
    (row,) = page.attributes("data-events", "tr")
    assert bar == row and len(bar.split()) == 2
    places = {f["data-event"]: float(str(f["x"])) for tag, f in page.elements if tag == "rect" and "data-event" in f}
    first, second = (places[number] for number in bar.split())
    assert first < second == sorted(places.values())[1]


def test_no_link_to_anywhere(folder: Path) -> None:
    text = page_of(folder, "--diagnose")
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "base")
        assert tag != "script" or "src" not in attributes
        for name in ("src", "href", "xlink:href", "action", "srcset"):
            assert str(attributes.get(name, "data:")).startswith("data:")
    assert not re.search(r"@import|url\(", text)
    assert "fetch(" not in text and "XMLHttpRequest" not in text


def test_what_data_says_is_text(folder: Path) -> None:
    text = page_of(folder)
    assert "<script>alert" not in text
    assert text.count("<script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_plan_is_inside(folder: Path) -> None:
    (source,) = Page(page_of(folder)).attributes("src", "img")
    svg = base64.b64decode(source.removeprefix("data:image/svg+xml;base64,"))
    assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_what_each_operator_did(folder: Path) -> None:
    table = page_of(folder).partition("<table class='sc-work'>")[2].partition("</table>")[0]
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    assert [row[0].partition(" ")[0] for row in rows] == [f"#{number}" for number in range(len(rows))]
    assert rows[-1][2] == "1"  # the match
    scans = [row[1] for row in rows if " on S" in row[0] or " on T" in row[0]]
    assert len(scans) == 2
    assert all(int(count) > 0 for count in scans)


def test_the_diagnosis_is_inside_if_asked_for(folder: Path) -> None:
    assert "Diagnosis" not in page_of(folder)
    page = Page(page_of(folder, "--diagnose", query=QUERY.replace("?w > 5", "?w > 50")))
    assert "Diagnosis" in page.texts
    assert any("was false: 7 > 50, by 43" in text for text in page.texts)


def test_warnings_are_inside(folder: Path) -> None:
    page = Page(page_of(folder, query=QUERY.replace(":a ?v", ":A ?v")))
    assert any("warning[predicate-absent]" in text for text in page.texts)


def test_without_any_event(tmp_path: Path) -> None:
    write_streams(tmp_path, {"s": [], "t": []})
    page = Page(page_of(tmp_path))
    assert counts(page)["events"] == "0"


@pytest.mark.slow
def test_a_hundred_thousand_events_stay_a_page(tmp_path: Path) -> None:
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    for stream, predicate in (("s", "a"), ("t", "b")):
        lines = []
        for n in range(50_000):
            name = f"<http://example/{stream}{n}>"
            lines.append(f'<http://example/x{n}> <http://example/{predicate}> "{n % 50 + 1}"{integer} {name} .')
            time = f'"{2 * n + (stream == "t")}"{integer}'
            lines.append(f"{name} <http://www.w3.org/ns/prov#generatedAtTime> {time} .")
        (tmp_path / f"{stream}.nq").write_text("\n".join(lines))
    (tmp_path / "q.spaseq").write_text(QUERY.replace("?w > 5", "?w > 45"))
    given = ["run", str(tmp_path / "q.spaseq"), "--engine", "local", "--report", str(tmp_path / "out.html")]
    given += ["--stream", f"S={tmp_path / 's.nq'}", "--stream", f"T={tmp_path / 't.nq'}"]
    assert RUNNER.invoke(app, given).exit_code == 0
    text = (tmp_path / "out.html").read_text()
    page = Page(text)
    assert counts(page)["events"] == "100,000" and counts(page)["matches"] == "5,000"
    assert len(text) < 3_000_000
    assert "The first 2,000 of 5,000." in page.texts
    assert any(t.startswith("100,000 events are too many to be drawn one by one") for t in page.texts)
    drawn = set(page.attributes("data-event", "rect"))
    assert drawn == {event for events in page.attributes("data-events", "tr") for event in events.split()}
    columns = [int(t.removesuffix(" events").replace(",", "")) for t in page.texts if re.fullmatch(r"[\d,]+ events", t)]
    assert sum(columns) == 100_000
