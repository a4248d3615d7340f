"""Sequences of two labels, pushed in parts or at once, under operators or the exact evaluator: the same rows, from the same
events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from property.rsepql_strategies import EXAMPLES, NS, POLICIES, STREAMS
from roads import exact_evaluators
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])

_EXTREME = st.sampled_from(["", "", "FIRST ", "LAST ", "FIRST LAST "])
_BODIES = (
    "?x :p ?y",
    "?y :q ?z",
    "?x :p []",
    "?x ?r ?y",
    "?x :p ?y . ?y :q ?z",
    "?y :q ?z FILTER (?z != :a)",
    "?y :q ?z FILTER (?z > 1)",
)


@st.composite
def pairs(draw: st.DrawFn) -> str:
    """A query that is a pair, or nearly one."""
    windows = []
    for number in range(draw(st.integers(1, 2))):
        extent = draw(st.sampled_from(["LND 2", "RANGE 3", "RANGE 5", "RANGE 8 STEP 1", "RANGE 5 STEP 2", "RANGE 8 STEP 3"]))
        windows.append(f"FROM NAMED {draw(st.sampled_from([':s1'] * 5 + [':s2']))} WIN [{extent}] AS :w{number}")
    bodies = [draw(st.sampled_from([usual] * 20 + list(_BODIES))) for usual in _BODIES[:2]]
    events = [f"EVENT ON :w{draw(st.integers(0, len(windows) - 1))} {{ {body} }} AS E{i}" for i, body in enumerate(bodies)]
    policy = draw(st.sampled_from(["", *(f" {name.upper()}" for name in POLICIES)]))
    right = draw(st.sampled_from(["E1", "E1", "E1", "E0"]))
    match = f"{draw(_EXTREME)}E0 SEQ{policy} {draw(_EXTREME)}{right}"
    time_window = any("RANGE" in window for window in windows)
    report = draw(st.sampled_from(["", "", "REPORT ON WINDOW CLOSE"])) if time_window else ""
    columns = draw(st.sampled_from(["*", "*", "(1 AS ?one)"] if "?y" not in bodies[0] else ["*", "*", "?y"]))
    lines = [f"PREFIX : <{NS}>", f"SELECT {columns}", *windows, *events, report, f"WHERE {{ MATCH {{ {match} }} }}"]
    return "\n".join(line for line in lines if line)


def _graph(*triples: str) -> list[Triple]:
    objects: dict[str, Term] = {"1": Literal("1", f"{XSD}integer"), "2": Literal("2.0", f"{XSD}decimal"), "n": BlankNode("n")}
    terms = [[objects.get(letter, IRI(NS + letter)) for letter in triple] for triple in triples]
    return [Triple(*each) for each in terms]


_USUAL = [_graph("apa"), _graph("aqb"), _graph("bpa"), _graph("aqa", "apb"), _graph("bqa"), _graph("apa", "bpa", "aqa")]
_OTHER = [_graph("npa", "apn"), _graph("nqn", "npn"), _graph("aq1"), _graph("aq2", "aq1"), _graph("ap1"), _graph("arb")]


@st.composite
def streams(draw: st.DrawFn) -> list[scepter.Event]:
    """Many equal items, many at equal times, some that last."""
    found = []
    lasting = draw(st.sampled_from([[0], [0, 0, 0, 1, 3]]))
    for _ in range(draw(st.sampled_from([0, 8, 14, 20]))):
        start = draw(st.integers(0, 9))
        stream = draw(st.sampled_from([STREAMS[0]] * 5 + [STREAMS[1]]))
        graph = draw(st.sampled_from(_USUAL * 3 + _OTHER))
        found.append(scepter.Event(stream, graph, start, start + draw(st.sampled_from(lasting))))
    return sorted(found, key=lambda each: each.end)


def answers(text: str, arriving: list[scepter.Event], size: int, **options: Any) -> list[tuple[object, ...]]:
    """Row by row, with the events behind each, by their place among the arrivals."""
    engine = scepter.Engine(scepter.parse(text, "rsep-ql"), time_unit="ms", max_delay=3, **options)
    place = {id(each): number for number, each in enumerate(arriving)}
    matches: list[scepter.Match] = []
    read = [each for each in arriving if each.stream in engine.query.streams]
    for first in range(0, len(read), size):
        matches += engine.push_all(read[first : first + size])
    matches += engine.close()
    rows: list[tuple[object, ...]] = []
    for match in matches:
        # labels of blank nodes depend on the order in which the events of one instant are taken
        texts = {name: "" if isinstance(term, BlankNode) else str(term) for name, term in match.bindings.items()}
        bindings = frozenset((name, type(term), texts[name]) for name, term in match.bindings.items())
        shown = tuple((label, tuple(sorted(place[id(e)] for e in events))) for label, events in sorted(match.events.items()))
        rows.append((match.start, match.end, bindings, shown))
    return rows


def plain(text: str, arriving: list[scepter.Event], **options: Any) -> list[tuple[object, ...]]:
    """The same, followed by operators."""
    with exact_evaluators():
        return answers(text, arriving, max(1, len(arriving)), **options)


@MANY
@given(
    pairs(), streams(), st.sampled_from([1, 3, 1_000]), st.sampled_from([None] * 5 + [(6,), (3, 7, 8, 20)]),
    st.sampled_from([None, *POLICIES]), st.randoms(use_true_random=False),
)  # fmt: skip
def test_columns_and_operators_agree(
    text: str, stream: list[scepter.Event], size: int, instants: tuple[int, ...] | None, policy: str | None, random: Any
) -> None:
    arriving = sorted(stream, key=lambda each: each.end + random.randint(0, 3))
    options = {"evaluate_at": instants, "policy": policy}
    note(text)
    wanted = plain(text, arriving, **options)
    event(f"rows: {min(3, len(wanted))}")
    assert Counter(answers(text, arriving, size, **options)) == Counter(wanted)
