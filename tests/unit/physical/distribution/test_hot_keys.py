"""Which keys may be divided further: where answers look back a bounded time, and depend on rows alone."""

from __future__ import annotations

import pytest

from buckets import job_of
from scepter.physical.distribution.hot_keys import live_hot_keys, within_key
from scepter.runtime.queries import parse

PREFIX = "PREFIX : <http://example/> "
CHAIN = (
    "SELECT ?c {} FROM STREAM S :s WHERE {{ SEQ (A {} B) DEFINE GPM A ON S {{ ?c :a ?x }} DEFINE GPM B ON S {{ ?c :b ?y }} }}"
)
JOIN = "SELECT ?c WHERE { { ?c :a ?x } SEQ { ?c :b ?y } FILTER (getDURATION() < 20) }"


def told(text: str, language: str) -> int | str | None:
    job = job_of(parse(PREFIX + text, language), 2, given=("http://example/s",))
    return within_key(job.plan.units[0], job.plan.facts)


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        (CHAIN.format("WITHIN 5 SLIDING", ";"), "spaseq", 6),
        (CHAIN.format("WITHIN 5", ";"), "spaseq", 6),
        (CHAIN.format("", ";"), "spaseq", "its answers may look back for ever"),
        (CHAIN.format("WITHIN 5", ","), "spaseq", None),
        (
            CHAIN.format("WITHIN 5 PARTITION BY (?c)", ","),
            "spaseq",
            "the query looks at every event of a partition in its order",
        ),
        (JOIN, "ep-sparql", 20),
        (JOIN.replace("FILTER (getDURATION() < 20) ", ""), "ep-sparql", "its answers may look back for ever"),
        (
            "SELECT ?c (SUM(?x) AS ?n) FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?c :a ?x } GROUP BY ?c",
            "sparkwave",
            "the query is evaluated at instants that all of a key's rows share",
        ),
    ],
)
def test_what_may_be_cut(text: str, language: str, wanted: int | str | None) -> None:
    assert told(text, language) == wanted


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        (CHAIN.format("WITHIN 5 SLIDING", ";"), "spaseq", ""),
        (CHAIN.format("", ";"), "spaseq", ""),
        (CHAIN.format("WITHIN 5", ","), "spaseq", None),
        (
            CHAIN.format("WITHIN 5 PARTITION BY (?c)", ","),
            "spaseq",
            "the query looks at every event of a partition in its order",
        ),
        (
            CHAIN.format("WITHIN 5", ";").replace("SELECT", "SELECT DISTINCT"),
            "spaseq",
            "matches that begin with different events may be one answer",
        ),
        (CHAIN.format("WITHIN 5", ";").replace("(A", "(A! ; B"), "spaseq", "a negation looks at events before the first one"),
        (CHAIN.format("WITHIN 5", ";").replace("(A", "((A & B)"), "spaseq", "matches begin with several events"),
        ("SELECT ?c WHERE { { ?c :a ?x } SEQ { ?c :b ?y } }", "ep-sparql", ""),
        ("SELECT ?c WHERE { ?c :a ?x . ?c :b ?y }", "ep-sparql", "only the matches of a sequence have a first event"),
    ],
)
def test_what_may_be_split_live(text: str, language: str, wanted: str | None) -> None:
    job = job_of(parse(PREFIX + text, language), 2, given=("http://example/s",), live=True)
    assert live_hot_keys(job.plan.units[0]) == wanted
    assert job.splittable == (frozenset({0}) if wanted == "" else frozenset())
