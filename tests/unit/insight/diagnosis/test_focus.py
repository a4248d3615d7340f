"""Why did this event, or this key, not match? On hand-made streams, in every language."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import scepter
from scepter import Event
from scepter.errors import OptionError
from scepter.insight.diagnosis.model import Diagnosis, Findings
from scepter.rdf.terms import BlankNode

EXAMPLE = {"": "http://example/"}
PRICES = [(1, "ACME", 100), (3, "Beta", 60), (8, "ACME", 65), (9, "Beta", 55), (12, "ACME", 60)]
FALL = {
    "spaseq": """PREFIX : <http://example/> SELECT ?company ?before ?after WITHIN 10 SLIDING
        FROM STREAM Prices <http://example/prices> WHERE { SEQ (A : B)
        DEFINE GPM A ON Prices { ?company :price ?before }
        DEFINE GPM B ON Prices { ?company :price ?after FILTER (?after < 0.7 * ?before) } }""",
    "ep-sparql": """PREFIX : <http://example/> SELECT ?company ?before ?after FROM STREAM <http://example/prices>
        WHERE { { ?company :price ?before } SEQ { ?company :price ?after }
        FILTER (?after < 0.7 * ?before && getDURATION() <= 10) }""",
    "obep": """PREFIX : <http://example/> FROM STREAM <http://example/prices> EVENT Price AS price some Thing
        EVENT Fall MATCH Price AS A SEQ Price AS B WITHIN 10
        IF { EVENT A { ?company :price ?before . } EVENT B { ?company :price ?after . } FILTER (?after < 0.7 * ?before) }
        RETURN Fall AS RDF STREAM""",
    "rsep-ql": """PREFIX : <http://example/> SELECT ?company ?before ?after
        FROM NAMED :prices WIN [RANGE 11 STEP 1] AS :recent
        EVENT ON :recent { ?company :price ?before . } AS A EVENT ON :recent { ?company :price ?after . } AS B
        WHERE { MATCH { A SEQ B } FILTER (?after < 0.7 * ?before) }""",
    "sparkwave": """PREFIX : <http://example/> SELECT ?company ?before ?after
        FROM STREAM <http://example/prices> [RANGE 10]
        WHERE { ?company :price ?before . ?company :price ?after FILTER (?after < 0.7 * ?before) }""",
}


def prices(rows: list[tuple[int, str, int]] = PRICES) -> list[Event]:
    return [
        Event("http://example/prices", f":{who} :price {price} .", at, prefixes=EXAMPLE, name=f"http://example/e{number}")
        for number, (at, who, price) in enumerate(rows, 1)
    ]


def asked(language: str, **about: Any) -> Findings:
    return scepter.parse(FALL[language], language).diagnose(prices(), **about)


def one(findings: Findings) -> Diagnosis:
    (diagnosis,) = findings.diagnoses
    return diagnosis


@pytest.mark.parametrize("language", FALL)
class TestEveryLanguage:
    def test_an_event_that_matched_and_one_that_did_not(self, language: str) -> None:
        matched, missed = (one(asked(language, event=name)) for name in ("e3", "e5"))
        assert (matched.matches, matched.focused) == (1, 1)
        assert (missed.matches, missed.focused) == (1, 0)
        assert any(stage.count == 0 for step in missed.steps for stage in step.stages)

    def test_a_key_that_matched_and_one_that_did_not(self, language: str) -> None:
        assert one(asked(language, key={"company": ":ACME"})).focused == 1
        assert one(asked(language, key={"?company": "<http://example/Beta>"})).focused == 0

    def test_the_values_compared_and_by_how_much(self, language: str) -> None:
        reasons = [stopped.reason for stopped in one(asked(language, key={"company": ":Beta"})).stopped]
        assert any("was false: 55 < 0.7 * 60 = 42, by 13" in reason for reason in reasons)


class TestAnEvent:
    def test_the_whole_text(self) -> None:
        assert str(asked("spaseq", event="e5")).splitlines() == [
            "diagnosis: :e5 at 12, among all 5 events",
            "",
            "spaseq query: 1 match, none with :e5 at 12",
            "  A on Prices",
            "    on Prices                                                       1",
            "    graph pattern                                                   1",
            "    partial matches so far                                          1",
            "  : B on Prices",
            "    on Prices                                                       1",
            "    graph pattern                                                   1",
            "    joined on ?company                                              1",
            "    FILTER (?after < 0.7 * ?before)                                 1",
            "    later than A                                                    1",
            "    WITHIN 10 time units                                            0  ◀ stops here",
            "    partial matches so far                                          0",
            "  nearest misses:",
            "    A = :e1 at 1",
            "      ?before = 100, ?company = :ACME",
            "      stopped: B = :e5 at 12: it fits, but the match would last too long, from 1: WITHIN 10 time units, by 1",
            "    A = :e3 at 8",
            "      ?before = 65, ?company = :ACME",
            "      stopped: B = :e5 at 12: FILTER (?after < 0.7 * ?before) was false: 60 < 0.7 * 65 = 45.5, by 14.5",
            "    A = :e5 at 12",
            "      ?before = 60, ?company = :ACME",
            "      stopped: no later event joins it by B on ?company",
        ]

    @pytest.mark.parametrize("name", ["e3", ":e3", "http://example/e3", "<http://example/e3>", "3", 3])
    def test_every_way_to_name_it(self, name: str | int) -> None:
        assert one(asked("spaseq", event=name)).focused == 1

    def test_an_event_without_a_name_by_its_number(self) -> None:
        events = [
            Event("http://example/prices", f":x :price {price} .", at, prefixes=EXAMPLE) for at, price in [(1, 9), (2, 5)]
        ]
        findings = scepter.parse(FALL["spaseq"]).diagnose(events, event=2)
        assert findings.focus == "event 2 at 2" and one(findings).focused == 1

    def test_a_negated_event_that_prevents_it(self) -> None:
        query = scepter.parse("""PREFIX : <http://example/> SELECT ?c WITHIN 10 SLIDING FROM STREAM S <http://example/prices>
            WHERE { SEQ (A : N! : B) DEFINE GPM A ON S { ?c :price 1 } DEFINE GPM N ON S { ?c :price 2 }
            DEFINE GPM B ON S { ?c :price 3 } }""")
        rows = [(1, "a", 1), (2, "a", 2), (3, "a", 3), (4, "b", 1), (5, "b", 3)]
        diagnosis = one(query.diagnose(prices(rows), event="e3"))
        assert (diagnosis.matches, diagnosis.focused) == (1, 0)
        assert "it fits, but N = :e2 at 2 stands between" in diagnosis.stopped[0].reason

    def test_in_a_tree_an_event_counts_where_it_is_needed(self) -> None:
        query = scepter.parse("""PREFIX : <http://example/> SELECT ?a ?b FROM STREAM <http://example/prices>
            WHERE { { ?c :price ?a } EQUALS { ?d :price ?b } FILTER (?a > ?b) }""", "ep-sparql")  # fmt: skip
        rows = [(1, "x", 5), (1, "y", 3), (2, "x", 5)]
        assert [one(query.diagnose(prices(rows), event=n)).focused for n in (1, 2, 3)] == [1, 1, 0]

    def test_the_page_has_the_nearest_misses(self) -> None:
        page = scepter.parse(FALL["spaseq"]).report(prices(), event="e5")
        assert "Nearest misses" in page and "by 14.5" in page and "1 match, none with :e5 at 12" in page


class TestManyEvents:
    """More than are looked at: those around what is asked about, wherever it stands."""

    ROWS: ClassVar = [(at, f"c{at % 50}", 100 if at != 18_010 else 10) for at in range(20_000)]

    def test_the_events_around_an_event(self) -> None:
        query = scepter.parse(FALL["spaseq"].replace("WITHIN 10", "WITHIN 100"))
        findings = query.diagnose(prices(self.ROWS), event="e18011")
        diagnosis = one(findings)
        assert (findings.total, diagnosis.focused, findings.events) == (20_000, 2, 5_000)
        assert str(findings).startswith(
            "diagnosis: :e18011 at 18010, among the 5,000 of 20,000 events from 15000 to 19999 (at most 5,000 are looked at)"
        )

    def test_the_events_around_the_first_of_a_key(self) -> None:
        rows = [(at, "late" if at > 15_000 else "early", at % 7) for at in range(20_000)]
        findings = scepter.parse(FALL["spaseq"]).diagnose(prices(rows), key={"company": ":late"})
        assert findings.since is not None and int(findings.since) > 10_000
        assert one(findings).focused

    def test_an_event_by_its_number_in_the_whole_input(self) -> None:
        findings = scepter.parse(FALL["spaseq"]).diagnose(prices(self.ROWS), event=18_011)
        assert findings.focus == ":e18011 at 18010"


@pytest.mark.parametrize(
    ("about", "code", "said"),
    [
        ({"event": "http://example/e9"}, "unknown-event", "did you mean http://example/e"),
        ({"event": "nowhere"}, "unknown-event", "events are called e1, e2, e3, …; or give its number, from 1 to 5"),
        ({"event": 77}, "unknown-event", "no event is called '77', of 5"),
        ({"event": 0}, "unknown-event", "no event is called '0'"),
        ({"event": "9" * 40}, "unknown-event", "no event is called"),
        ({"event": 1.5}, "event", "an event is a name or a number, not a float"),
        ({"event": True}, "event", "not a bool"),
        ({"key": "?company=:ACME"}, "key", "a key is a dictionary, not a str"),
        ({"key": {"compny": ":ACME"}}, "unknown-variable", "did you mean ?company?"),
        ({"key": {"zzz": ":ACME"}}, "unknown-variable", "it has ?after, ?before, ?company"),
        ({"key": {"company": "ACME"}}, "key", "'ACME' is no term"),
        ({"key": {"company": object}}, "key", "is no term"),
        ({"key": {"company": "_:b1"}}, "key", "_:b1 has no name outside its event"),
        ({"key": {"company": BlankNode("b1")}}, "key", "_:b1 has no name outside its event"),
    ],
)
def test_what_cannot_be_asked_about(about: dict[str, Any], code: str, said: str) -> None:
    with pytest.raises(OptionError) as error:
        asked("spaseq", **about)
    assert error.value.code == code
    assert said in str(error.value)


def test_two_events_of_one_name() -> None:
    events = [*prices(), *prices([(20, "ACME", 1)])]
    with pytest.raises(OptionError) as error:
        scepter.parse(FALL["spaseq"]).diagnose(events, event="e1")
    assert error.value.code == "event-twice"


def test_values_are_one_key_however_they_are_written() -> None:
    assert one(asked("spaseq", key={"after": 65})).focused == 1
    assert one(asked("spaseq", key={"after": "65.0"})).focused == 1
