"""What notebooks show of queries and matches."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import scepter

QUERY = """PREFIX : <http://example/>
SELECT ?house ?x WITHIN 10 FROM STREAM S <http://example/s> FROM STREAM T <http://example/t>
WHERE { SEQ (A; B) DEFINE GPM A ON S { ?house :alarm ?x } DEFINE GPM B ON T { ?house :fire ?y } }"""


def event(stream: str, text: str, time: int) -> scepter.Event:
    return scepter.Event(f"http://example/{stream}", text, time, prefixes={"": "http://example/"})


def found(houses: int = 2) -> list[scepter.Match]:
    engine = scepter.Engine(scepter.parse(QUERY))
    pushed = [event("s", f":h{n} :alarm '<b>&' .", 1) for n in range(houses)]
    pushed += [event("t", f":h{n} :fire 2 .", 5) for n in range(houses)]
    return [match for each in pushed for match in engine.push(each)]


class Elements(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def marked(self, attribute: str, tag: str) -> list[str | None]:
        return [attributes[attribute] for name, attributes in self.found if name == tag and attribute in attributes]


def test_a_query_shows_its_plan() -> None:
    root = ElementTree.fromstring(scepter.parse(QUERY)._repr_svg_())
    assert root.tag.endswith("svg")


def test_matches_show_a_bar_each_and_their_events_once() -> None:
    shown = Elements(scepter.Matches(found())._repr_html_())
    assert sorted(map(str, shown.marked("data-match", "rect"))) == ["1", "2"]
    assert len(shown.marked("data-event", "rect")) == 4
    assert shown.marked("data-match", "tr") == ["1", "2"]


def test_a_single_match_shows_itself() -> None:
    match, *_ = found()
    text = match._repr_html_()
    assert Elements(text).marked("data-match", "tr") == ["1"]
    assert "&lt;b&gt;&amp;" in text and "<b>" not in text


def test_many_matches_are_cut_and_it_says_so() -> None:
    text = scepter.Matches(found(201))._repr_html_()
    assert "<p>the first 200 of 201 matches</p>" in text
    assert len(Elements(text).marked("data-match", "tr")) == 200


def test_a_list_of_matches_stays_a_list() -> None:
    matches = scepter.Matches(found())
    assert isinstance(matches, list) and len(matches + found()) == 4


def test_an_engine_returns_what_a_notebook_shows() -> None:
    engine = scepter.Engine(scepter.parse(QUERY))
    given = [event("s", ":h1 :alarm 1 .", 1), event("t", ":h1 :fire 2 .", 5)]
    returned = [*map(engine.push, given), engine.advance(6), engine.close(), engine.close()]
    assert [len(matches) for matches in returned] == [0, 1, 0, 0, 0]
    assert all(isinstance(matches, scepter.Matches) for matches in returned)
