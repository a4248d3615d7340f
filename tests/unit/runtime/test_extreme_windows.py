"""Windows and gaps at the edge of the timeline: an answer, or an error that names the place, and at once."""

from __future__ import annotations

import pytest

from scepter import Engine, Event, QueryError, parse

LONGEST = 2**63 - 1
NAMES = {"": "http://example/"}
PAIRS = {
    "spaseq": """SELECT ?x WITHIN {} SLIDING FROM STREAM S :s
        WHERE {{ SEQ (A : B) DEFINE GPM A ON S {{ ?x :p ?v }} DEFINE GPM B ON S {{ ?x :p ?w }} }}""",
    "ep-sparql": "SELECT ?x WHERE {{ {{ ?x :p ?v }} SEQ {{ ?x :p ?w }} FILTER (getDURATION() < {}) }}",
    "rsep-ql": """SELECT ?x ?v ?w FROM NAMED :s WIN [RANGE {} STEP 1] AS :w
        EVENT ON :w {{ ?x :p ?v }} AS A EVENT ON :w {{ ?x :p ?w }} AS B WHERE {{ MATCH {{ A SEQ B }} }}""",
    "sparkwave": "SELECT ?x FROM STREAM :s [RANGE {}] WHERE {{ ?x :p ?v . ?x :p ?w FILTER (?v < ?w) }}",
    "obep": """EVENT P AS p some Thing EVENT F MATCH P AS A SEQ P AS B WITHIN {} ms RETURN F AS RDF STREAM""",
}
"""An event and a later one."""
CONTENT = {
    "rsep-ql": "SELECT {} FROM NAMED WINDOW :w ON :s [RANGE {} STEP {}] WHERE {{ WINDOW :w {{ ?x :p ?v }} }}",
    "sparkwave": "SELECT {} FROM STREAM :s [RANGE {} STEP {}] WHERE {{ ?x :p ?v }}",
}


def found(text: str, language: str, times: list[int]) -> int:
    engine = Engine(parse(f"PREFIX : <http://example/>\n{text}", language))
    events = [Event("http://example/s", f":a :p {n} .", time, prefixes=NAMES) for n, time in enumerate(times)]
    return sum(len(engine.push(event)) for event in events) + len(engine.close())


@pytest.mark.parametrize("language", ["spaseq", "ep-sparql", "rsep-ql", "sparkwave"])
def test_a_window_as_long_as_time(language: str) -> None:
    assert found(PAIRS[language].format(LONGEST), language, [1, 2, 5]) == 3


def test_a_duration_that_no_timeline_has() -> None:
    with pytest.raises(QueryError, match="longer than any timeline"):
        found(PAIRS["obep"].format(LONGEST), "obep", [1, 2, 5])


@pytest.mark.parametrize("language", ["spaseq", "rsep-ql", "sparkwave", "obep"])
def test_a_window_of_no_length(language: str) -> None:
    with pytest.raises(QueryError, match=r"error\[duration\]"):
        found(PAIRS[language].format(0), language, [1, 2, 5])


@pytest.mark.parametrize("limit", ["0", "-3", f"-{LONGEST}"])
@pytest.mark.parametrize("times", [[1, 2, 5], [-(2**63) + 4, 0, 2**63 - 5]])
def test_nothing_is_shorter_than_nothing(limit: str, times: list[int]) -> None:
    assert found(PAIRS["ep-sparql"].format(limit), "ep-sparql", times) == 0
    assert found(f"SELECT ?x WHERE {{ ?x :p ?v . ?x :p ?w FILTER (getDURATION() < {limit}) }}", "ep-sparql", times) == 0


@pytest.mark.parametrize("language", CONTENT)
@pytest.mark.parametrize("shown", ["?x", "(COUNT(*) AS ?n)"])
def test_a_step_of_one_over_a_gap(language: str, shown: str) -> None:
    """Ten evaluations hold each event in the one language; in the other a row is told when it is new."""
    assert found(CONTENT[language].format(shown, 10, 1), language, [1, 2**62]) == (20 if language == "sparkwave" else 1)


def test_a_report_without_end() -> None:
    with pytest.raises(QueryError, match="endless-report"):
        found(CONTENT["sparkwave"].format("?x", LONGEST, 1), "sparkwave", [1, 2**62])


def test_one_stream_is_empty() -> None:
    text = """SELECT ?x FROM STREAM :s [RANGE 10 STEP 5] FROM STREAM :t [RANGE 10 STEP 5] WHERE { ?x :p ?v . ?x :q ?w }"""
    assert found(text, "sparkwave", [1, 2, 2**62]) == 0
    either = """SELECT ?x WITHIN 10 SLIDING FROM STREAM S :s FROM STREAM T :t
        WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :p ?v } DEFINE GPM B ON T { ?x :q ?w } }"""
    assert found(either, "spaseq", [1, 2, 2**62]) == 0


@pytest.mark.parametrize("language", PAIRS)
def test_no_event_at_all(language: str) -> None:
    assert found(PAIRS[language].format(10), language, []) == 0
