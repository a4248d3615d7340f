"""Warnings of runs, their whole texts pinned."""

from __future__ import annotations

import pytest

from scepter.cases.source import TimelineSource
from scepter.errors import render
from scepter.insight.hints.run_hints import run_warnings
from scepter.rdf.looking_ahead import survey
from scepter.rdf.timeline_notation import parse_timeline
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse

PREFIXES = {"": "http://example/"}


def query_text(body: str = "?x :b ?w", window: str = "WITHIN 10", sequence: str = "A; B", second: str = "S") -> str:
    return f"""PREFIX : <http://example/>
SELECT * {window}
FROM STREAM S <http://example/S>
FROM STREAM T <http://example/T>
WHERE {{ SEQ ({sequence})
  DEFINE GPM A ON S {{ ?x :a ?v }}
  DEFINE GPM B ON {second} {{ {body} }} }}
"""


def warned(
    text: str,
    *,
    matches: int = 0,
    background: str | dict[str | None, str] | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008
    language: str = "spaseq",
    **streams: str,
) -> list[str]:
    query = parse(text, language, "q")
    sources = {f"http://example/{n}": TimelineSource(n, parse_timeline(events, PREFIXES)) for n, events in streams.items()}
    surveys = {iri: survey(source) for iri, source in sources.items()}
    found = run_warnings(query, sources, surveys, matches, background=background, options=options)
    return [render(warning, query.lowered.source) for warning in found]


EVENTS = "1 { :x :a 1 } 2 { :y :b 2 }"


def test_nothing_to_say() -> None:
    assert warned(query_text(), S=EVENTS, T="1 { :x :c 1 }") == []


def test_a_stream_without_events_is_told_even_after_matches() -> None:
    wanted = ["warning[stream-empty]: the stream T (T) holds no event"]
    assert warned(query_text(), S=EVENTS, T="") == wanted
    assert warned(query_text(), matches=3, S=EVENTS, T="") == wanted


class TestPredicates:
    def test_a_misspelt_predicate(self) -> None:
        (text,) = warned(query_text("?x :speeed ?w"), S="1 { :x :a 1 ; :speed 2 }", T="1 { :x :c 1 }")
        assert text.splitlines() == [
            "warning[predicate-absent]: the stream S never has the predicate :speeed",
            "  --> q:7:26",
            " 7 |   DEFINE GPM B ON S { ?x :speeed ?w } }",
            "   |                          ^^^^^^^",
            "help: did you mean :speed?",
        ]

    def test_another_namespace(self) -> None:
        (text,) = warned(query_text("?x <https://example/b> ?w"), S=EVENTS, T="1 { :x :c 1 }")
        assert text.endswith("help: did you mean :b?")

    def test_nothing_close_is_suggested(self) -> None:
        (text,) = warned(query_text("?x :qqqqq ?w"), S=EVENTS, T="1 { :x :c 1 }")
        assert "help" not in text

    def test_each_stream_for_itself(self) -> None:
        (text,) = warned(query_text(second="T"), S=EVENTS, T="1 { :x :c 1 }")
        assert text.startswith("warning[predicate-absent]: the stream T never has the predicate :b\n")

    @pytest.mark.parametrize(
        ("body", "sequence"),
        [
            ("?x :b ?w OPTIONAL { ?x :none ?u }", "A; B"),
            ("?x :b ?w FILTER NOT EXISTS { ?x :none ?u }", "A; B"),
            ("?x :b ?w MINUS { ?x :none ?u }", "A; B"),
            ("{ ?x :b ?w } UNION { ?x :none ?w }", "A; B"),
            ("?x :none ?w", "A; B!"),
            ("?x :none ?w", "A; B?"),
            ("?x ?p ?w", "A; B"),
        ],
    )
    def test_what_no_match_needs_is_not_missed(self, body: str, sequence: str) -> None:
        assert warned(query_text(body, sequence=sequence), S=EVENTS, T="1 { :x :c 1 }") == []

    def test_only_after_a_run_without_matches(self) -> None:
        assert warned(query_text("?x :none ?w"), matches=1, S=EVENTS, T="1 { :x :c 1 }") == []

    def test_static_data_has_it(self) -> None:
        text = """PREFIX : <http://example/>
            SELECT ?x FROM STREAM <http://example/S> [RANGE 5] WHERE { ?x :a ?v . ?x :kind :good . ?x :kin :bad }"""
        static = "@prefix : <http://example/> .\n:y :kind :good .\n"
        (warning,) = warned(text, language="sparkwave", background=static, S=EVENTS)
        assert warning.startswith("warning[predicate-absent]: the streams never have the predicate :kin\n")

    def test_of_an_event_over_a_window(self) -> None:
        text = """PREFIX : <http://example/>
            SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :a ?v } AS A EVENT ON :w { ?x :bb ?v } AS B
            WHERE { MATCH { A SEQ B } }"""
        (warning,) = warned(text, language="rsep-ql", S=EVENTS)
        assert warning.startswith("warning[predicate-absent]: the stream <http://example/S> never has the predicate :bb\n")

    def test_what_rules_derive_is_there(self) -> None:
        text = """PREFIX : <http://example/>
            CONSTRUCT { ?x :made ?v } WHERE { ?x :a ?v . ?x :b ?w }
            SELECT ?x FROM STREAM <http://example/S> WHERE { ?x :made ?v }"""
        assert warned(text, language="ep-sparql", S=EVENTS) == []


class TestRules:
    RULES = """PREFIX : <http://example/>
CONSTRUCT { ?x :sum ?n } WHERE { { ?x :sum ?v } SEQ { ?x :a ?n } }
CONSTRUCT { ?x :seen ?n } WHERE { ?x :sum ?v . ?x :b ?n }
SELECT ?x FROM STREAM <http://example/S> WHERE { ?x :a ?v FILTER (getDURATION() < 3) }"""

    @pytest.mark.parametrize("matches", [0, 1])
    def test_a_rule_that_only_feeds_itself_never_begins(self, matches: int) -> None:
        told = [text.splitlines() for text in warned(self.RULES, language="ep-sparql", matches=matches, S=EVENTS)]
        why = "this rule never fires: it needs :sum, and only rules that never fire derive it"
        assert [lines[:2] for lines in told] == [
            [f"warning[never-fires]: {why}", "  --> q:2:39"],
            [f"warning[never-fires]: {why}", "  --> q:3:38"],
        ]

    def test_what_begins_is_in_the_stream_or_static(self) -> None:
        assert warned(self.RULES, language="ep-sparql", matches=1, S="1 { :x :a 1 ; :sum 0 ; :b 1 }") == []
        static = "@prefix : <http://example/> .\n:y :sum 0 .\n"
        assert warned(self.RULES, language="ep-sparql", matches=1, background=static, S=EVENTS) == []

    def test_nothing_has_it(self) -> None:
        text = self.RULES.replace("{ ?x :sum ?v } SEQ ", "{ ?x :none ?v } SEQ ")
        first, *_ = warned(text, language="ep-sparql", matches=1, S=EVENTS)
        assert first.startswith("warning[never-fires]: this rule never fires: it needs :none, and neither the streams nor")

    @pytest.mark.parametrize(
        ("graph", "lack"),
        [(":g", "the graph :g does not have"), (":h", "the graph :h does not have"), ("?g", "no graph given has")],
    )
    def test_a_static_graph_lacks_it(self, graph: str, lack: str) -> None:
        text = self.RULES.replace("{ ?x :sum ?v } SEQ ", f"GRAPH {graph} {{ ?x :a ?v }} ")
        static: dict[str | None, str] = {
            f"http://example/{name}": f"<http://example/x> <http://example/{name}{name}> 1 .\n" for name in "gh"
        }
        told = warned(text, language="ep-sparql", matches=1, background=static, S=EVENTS)
        message = f"this rule never fires: it needs :a, and {lack} it"
        assert [each.splitlines()[0] for each in told] == [
            f"warning[never-fires]: {message}",
            "warning[never-fires]: this rule never fires: it needs :sum, and only rules that never fire derive it",
        ]
        there = text.replace(f"GRAPH {graph} {{ ?x :a ?v }}", f"GRAPH {graph} {{ ?x :{'gg' if graph == ':g' else 'hh'} ?v }}")
        assert warned(there, language="ep-sparql", matches=1, background=static, S=EVENTS) == []

    def test_a_static_graph_may_be_entailed_to_have_it(self) -> None:
        text = self.RULES.replace("{ ?x :sum ?v } SEQ ", "GRAPH :g { ?x :a ?v } ")
        schema = "<http://example/c> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <http://example/a> ."
        static: dict[str | None, str] = {"http://example/g": f"<http://example/x> <http://example/c> 1 .\n{schema}\n"}
        assert warned(text, language="ep-sparql", matches=1, background=static, S=EVENTS) == []


class TestFilters:
    @pytest.mark.parametrize(
        ("condition", "message"),
        [
            ("?w > 10 && ?w < 5", "?w > 10 and ?w < 5 are never both true"),
            ("?w >= 5 && ?w < 5", "?w >= 5 and ?w < 5 are never both true"),
            ("5 < ?w && 4.5 >= ?w", "5 < ?w and 4.5 >= ?w are never both true"),
            ("?w = 3 && ?w = 4", "?w = 3 and ?w = 4 are never both true"),
            ("?w = 3 && ?w > 3", "?w = 3 and ?w > 3 are never both true"),
            ("1 > 2", "FILTER (1 > 2) is never true"),
            ("?w > 1 && 1 + 1 = 3", "FILTER (1 + 1 = 3) is never true"),
        ],
    )
    def test_contradictions(self, condition: str, message: str) -> None:
        (text,) = warned(query_text(f"?x :b ?w FILTER ({condition})"), S=EVENTS, T="1 { :x :c 1 }")
        assert text.splitlines()[0] == f"warning[never-true]: {message}"

    @pytest.mark.parametrize(
        "condition",
        [
            "?w >= 5 && ?w <= 5",
            "?w > 5 && ?w < 10",
            "?w = 3.0 && ?w = 3",
            "?w > 5 || ?w < 3",
            "?w > 10 && ?v < 5",
            "?w != 3 && ?w = 4",
            "1 < 2",
            "RAND() > 2",
            "NOT EXISTS { ?x :none 1 }",
        ],
    )
    def test_what_may_hold(self, condition: str) -> None:
        assert warned(query_text(f"?x :b ?w FILTER ({condition})"), S=EVENTS, T="1 { :x :c 1 }") == []

    def test_two_filters_of_one_gpm(self) -> None:
        (text,) = warned(query_text("?x :b ?w FILTER (?w > 10) FILTER (?w < 5)"), S=EVENTS, T="1 { :x :c 1 }")
        assert text.splitlines()[0] == "warning[never-true]: ?w > 10 and ?w < 5 are never both true"


def ticking(first: int, step: int, count: int = 30) -> str:
    return " ".join(f"{first + n * step} {{ :x :a {n} ; :b {n} }}" for n in range(count))


class TestTimes:
    def test_seconds_since_1970_read_as_milliseconds(self) -> None:
        events = ticking(1_767_225_600, 1, 3)
        for matches in (0, 5):
            (text,) = warned(query_text(window="WITHIN 10 SECONDS"), matches=matches, S=events, T=events)
            assert text.splitlines() == [
                "warning[time-unit]: timestamps such as 1767225600 look like s since 1970, and are read as ms",
                "help: if they count s, add --time-unit s",
            ]
        assert warned(query_text(window="WITHIN 10 SECONDS"), options=RunOptions.of(time_unit="s"), S=events, T=events) == []

    def test_all_events_in_one_window(self) -> None:
        events = ticking(0, 1)
        (text,) = warned(query_text(window="WITHIN 10 SECONDS"), S=events, T=events)
        assert text.splitlines() == [
            "warning[time-unit]: all 60 events lie within 29 ms, and the window is 10 s",
            "help: if they count s, add --time-unit s",
        ]

    def test_few_events_say_nothing_of_their_unit(self) -> None:
        events = ticking(0, 1, 5)
        assert warned(query_text(window="WITHIN 10 SECONDS"), S=events, T=events) == []

    def test_a_window_in_time_units_fits_any_timestamps(self) -> None:
        events = ticking(0, 1)
        assert warned(query_text(window="WITHIN 1000"), S=events, T=events) == []

    def test_events_much_further_apart_than_the_window(self) -> None:
        events = ticking(0, 60_000)
        (text,) = warned(query_text(window="WITHIN 10 SECONDS"), S=events, T=events)
        assert text.splitlines() == [
            "warning[time-unit]: events lie 29,000 ms apart on average, and the window is 10 s: hardly two of them lie in one",
            "help: check --time-unit, the length of their unit",
        ]

    def test_streams_that_never_overlap(self) -> None:
        (text,) = warned(query_text(second="T"), S="1 { :x :a 1 } 5 { :x :a 1 }", T="100 { :x :b 1 } 120 { :x :b 1 }")
        assert text == (
            "warning[streams-apart]: the streams S (1 to 5) and T (100 to 120) have no time in common "
            "and no window reaches from one to the other"
        )

    def test_streams_within_a_window_of_each_other(self) -> None:
        assert warned(query_text(second="T"), S="1 { :x :a 1 }", T="9 { :y :b 1 }") == []

    def test_streams_apart_without_a_window(self) -> None:
        (text,) = warned(query_text(window="", second="T"), S="1 { :x :a 1 }", T="9 { :y :b 1 }")
        assert text == "warning[streams-apart]: the streams S (1 to 1) and T (9 to 9) have no time in common"
