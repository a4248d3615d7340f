"""Stars of triple patterns against their slow twin, joins of two sides each: the same matches with the same events,
whatever the batches, the order of arrival, the room of the memories, and how often an instant is done again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive.sparkwave import Event
from property.sparkwave_strategies import NS, STREAMS, THINGS, Setting, events, schemas, triples
from property.spaseq_strategies import EXAMPLES
from roads import exact_evaluators
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple

MANY = settings(
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
GRAPH = f"{NS}g"
NUMBERS: list[Term] = [
    Literal("1", XSD + "integer"),
    Literal("2", XSD + "integer"),
    Literal("2.0", XSD + "decimal"),
    Literal("2.5", XSD + "double"),
    Literal("90071992547409930000001", XSD + "integer"),
    Literal("two"),
]
PATTERNS = [
    "?a :q ?w .", "?a :q ?b .", "?b :p ?v .", "?v :q ?a .", "?a a ?k .", "?a a :C .", "?b ?r ?a .", "?a ?r ?a .", ":x :p ?b .",
    "?a :p ?u .", "?a :p 2 .", "?c :q ?d .", "?v a :D .",
]  # fmt: skip
CONDITIONS = [
    "?v > 1", "?v = 2", "?v >= 2 && ?v != 2.5", "?v < ?w", "?v + ?w < 4", "?v = ?w || ?a = :x", "?v > 90071992547409930000000",
    "?a != :z", "ISLITERAL(?v)", "STR(?v) > STR(?w)", "BOUND(?a)", "?v IN (1, 2.0)", "?v / 0 = 1",
]  # fmt: skip


@st.composite
def joins(draw: st.DrawFn) -> Setting:
    """A query that is joined in columns."""
    parts = ["?a :p ?v .", *draw(st.lists(st.sampled_from(PATTERNS), max_size=3))]
    conditions = draw(
        st.sampled_from([0, 0, 1, 2]).flatmap(lambda n: st.lists(st.sampled_from(CONDITIONS), min_size=n, max_size=n))
    )
    if any("?w" in condition for condition in conditions):
        parts.append("?a :q ?w .")
    parts += [f"FILTER ({condition})" for condition in conditions]
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(st.sampled_from([f"GRAPH <{GRAPH}> {{ ?a :p ?n }}", f"GRAPH <{GRAPH}> {{ ?v ?l ?a . ?a :q ?n }}"])))
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(st.sampled_from(["{ ?a a ?k }", "{ ?b :q ?w FILTER (?w > 1) }"])))
    if draw(st.integers(0, 3)) == 0:
        parts.append("BIND (STR(?a) AS ?text)")
    head = draw(
        st.sampled_from(["SELECT *", "SELECT *", "SELECT ?a ?v", "SELECT DISTINCT ?a", "CONSTRUCT { ?a :r ?v ; :t [] }", "ASK"])
    )
    tail = draw(st.sampled_from(["", "", "", "", "LIMIT 1", "ORDER BY DESC(?v) LIMIT 2"])) if head != "ASK" else ""
    windows = [f"[RANGE {draw(st.sampled_from([1, 3, 6, 20]))}]", f"[RANGE {draw(st.sampled_from([3, 20]))}]"]
    if draw(st.integers(0, 5)) == 0:
        windows[0] = ""
    sources = " ".join(f"FROM STREAM <{stream}> {window}" for stream, window in zip(STREAMS, windows, strict=True))
    text = f"PREFIX : <{NS}>\n{head} {sources} FROM NAMED <{GRAPH}>\nWHERE {{ {' '.join(parts)} }} {tail}"
    static = tuple(draw(st.lists(triples(), max_size=4)))
    return Setting(text, tuple(draw(numbered(draw(events(8))))), static, tuple(draw(schemas())))


@st.composite
def numbered(draw: st.DrawFn, given: list[Event]) -> list[Event]:
    """Some events have numbers of all kinds, some are there twice."""
    found = []
    for each in given:
        subject = draw(st.sampled_from(THINGS[:2]))
        more = [Triple(subject, IRI(NS + p), draw(st.sampled_from(NUMBERS))) for p in draw(st.sampled_from(["p", "q", "pq"]))]
        one = Event(each.stream, tuple(dict.fromkeys([*each.triples, *more])), each.start, each.end)
        found.append(one)
        if draw(st.integers(0, 4)) == 0:
            found.append(Event(draw(st.sampled_from(STREAMS)), one.triples, one.start, one.end))
    return found


def turtle(triples: Sequence[Triple]) -> str:
    return "\n".join(f"{s} {p} {o} ." for s, p, o in triples) + "\n"


def answers(setting: Setting, arriving: Sequence[Event], size: int, delay: int) -> Counter[object]:
    """What the engine reports: rows, and the events of each that is there once."""
    engine = scepter.Engine(
        scepter.parse(setting.text, "sparkwave"),
        max_delay=delay,
        background={None: turtle(setting.static), GRAPH: turtle(setting.static)},
        ontology=turtle(setting.schema),
    )
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving]
    places = {id(e): i for i, e in enumerate(pushed)}
    matches: list[Any] = []
    for first in range(0, len(pushed), size):
        matches += engine.push_all(pushed[first : first + size])
    matches += engine.close()
    assert not engine.late
    rows = Counter(m.row() for m in matches)
    # of matches that look the same, and differ in their events, any is kept by DISTINCT, LIMIT and ASK, or is the first to be
    # reported when an instant is done again
    alike = any(word in setting.text for word in ("DISTINCT", "LIMIT", "ASK"))
    return rows + Counter((m.row(), selected(m, places)) for m in matches if rows[m.row()] == 1 and not alike)


def selected(match: scepter.Match, places: dict[int, int]) -> object:
    return str([(stream, sorted({places[id(each)] for each in found})) for stream, found in sorted(match.events.items())])


@MANY
@given(
    joins(),
    st.sampled_from([1, 1, 3, 1_000]),
    st.integers(0, 6),
    st.sampled_from([(2, 1), (4, 3), (4096, 8192)]),
    st.randoms(use_true_random=False),
)
def test_stars_and_joins_give_the_same_matches(
    setting: Setting, size: int, delay: int, room: tuple[int, int], random: Any
) -> None:
    arriving = sorted(setting.events, key=lambda e: e.end + random.randint(0, delay))
    note(repr(setting))
    with exact_evaluators():
        wanted = answers(setting, arriving, size, delay)
    event(f"matches: {min(3, wanted.total())}")
    least, chunk = room
    with patch("scepter.kernel.star.memories._LEAST", least), patch("scepter.kernel.star.memories.CHUNK", chunk):
        assert answers(setting, arriving, size, delay) == wanted
