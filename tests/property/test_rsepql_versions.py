"""Graphs that vary (spec/00 §3 `--versions`, paper 003 Definitions 2 and 4) against the naive evaluator: by push, event by
event, in batches, out of order within the delay, and over history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import event, given, note
from hypothesis import strategies as st

import scepter
from naive import rsepql as naive
from naive.comparison import comparable_graph, comparable_row
from property.rsepql_strategies import BACKGROUND, NS, QueryText, background, events
from property.test_rsepql_naive import MANY
from scepter.algebra.windows import WindowedQuery
from scepter.runtime.matches import Match
from scepter.runtime.queries import parse
from scepter.runtime.versions import varying

ROADS = f"{NS}roads"
STREAM = f"{NS}s1"


@st.composite
def _queries(draw: st.DrawFn) -> QueryText:
    at = draw(st.sampled_from(["change", "change", "close", "given"]))
    windows = "FROM NAMED :s1 WIN [RANGE 4 STEP 2] AS :w FROM NAMED :s1 WIN [LND 0] AS :l"
    default, where = draw(
        st.sampled_from(
            [
                ("", "WINDOW :w { ?x :p ?y } GRAPH :roads { ?y :q ?z }"),
                ("", "WINDOW :w { ?x :p ?y } GRAPH :roads { ?a :p ?y . ?a :q ?z }"),
                ("", "WINDOW :w { ?x :p ?y } FILTER NOT EXISTS { GRAPH :roads { ?y :q ?z } }"),
                ("", "WINDOW :w { ?x :p ?y } OPTIONAL { GRAPH :roads { ?y :q ?z } }"),
                ("", "GRAPH :roads { ?y :q ?z }"),
                ("", "WINDOW :w { ?x :p ?y } GRAPH :roads { ?y :q+ ?z }"),
                ("", "MATCH { E } GRAPH :roads { ?y :q ?z }"),
                ("", "MATCH { E SEQ F } GRAPH :roads { ?x :q ?y }"),
                ("FROM :roads", "WINDOW :w { ?x :p ?y } ?y :q ?z"),
                ("FROM :roads", "WINDOW :w { ?x :p ?y } ?x :name ?n . ?x :q ?z"),
                ("FROM :roads FROM NAMED :roads", "WINDOW :l { ?x :p ?y } ?x ?r ?z GRAPH :roads { ?z :p ?y }"),
            ]
        )
    )
    labels = "EVENT ON :w { ?x :p ?y } AS E EVENT ON :w { ?y :q ?v } AS F" if "MATCH" in where else ""
    result, tail = draw(
        st.sampled_from([("SELECT *", "")] * 4 + [("SELECT (COUNT(*) AS ?count)", ""), ("CONSTRUCT { :it :is ?y }", "")])
    )
    register = draw(st.sampled_from(["", "REGISTER RSTREAM :out AS", "REGISTER DSTREAM :out AS"]))
    report = "REPORT ON WINDOW CLOSE" if at == "close" else ""
    text = "\n".join([f"PREFIX : <{NS}>", register, result, windows, default, labels, report, f"WHERE {{ {where} }}", tail])
    instants = tuple(draw(st.lists(st.integers(0, 14), min_size=1, max_size=4))) if at == "given" else None
    return QueryText(text, None, instants)


def _by_definition(query: QueryText, stream: Sequence[naive.Event], passed: int = 0) -> Counter[object]:
    (unit,) = varying(parse(query.text, "rsep-ql"), [ROADS]).program.units
    assert isinstance(unit, WindowedQuery)
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    outputs = naive.evaluate(unit, in_order, evaluate_at=query.evaluate_at, background={"": background()}, passed=passed)
    rows = (comparable_row(each.row) if each.graph is None else comparable_graph(each.graph) for each in outputs)
    return Counter((each.start, each.end, row) for each, row in zip(outputs, rows, strict=True))


def _counted(matches: Sequence[Match]) -> Counter[object]:
    rows = (comparable_row(m.bindings.items()) if m.graph is None else comparable_graph(m.graph) for m in matches)
    return Counter((match.start, match.end, row) for match, row in zip(matches, rows, strict=True))


@MANY
@given(_queries(), events(), st.sampled_from([1, 3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_versions(query: QueryText, drawn: list[naive.Event], size: int, delay: int, random: Any) -> None:
    stream = [
        naive.Event(STREAM if e.stream == STREAM and i % 3 else ROADS, e.start, e.end, e.triples) for i, e in enumerate(drawn)
    ]
    arriving = sorted(stream, key=lambda e: e.end + random.randint(0, delay))
    note(str(query))
    asked = bool(stream) or query.evaluate_at is not None  # given instants are answered without events too
    wanted = _by_definition(query, stream) if asked else Counter()
    event(f"rows: {min(3, wanted.total())}")
    given = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving]
    parsed = scepter.parse(query.text, "rsep-ql")
    engine = scepter.Engine(
        parsed, versions=ROADS, max_delay=delay, evaluate_at=query.evaluate_at, background={None: BACKGROUND}
    )
    pushed: list[Match] = []
    for first in range(0, len(given), size):
        pushed += engine.push_all(given[first : first + size])
    pushed += engine.close()
    # by push a version is a sign that time has passed, and that windows have closed before it
    passed = max((e.end for e in stream), default=0) - delay - 1
    assert _counted(pushed) == (_by_definition(query, stream, passed) if asked else wanted)
    over = parsed.run(
        {STREAM: [e for e in given if e.stream == STREAM]},
        versions={":roads": [e for e in given if e.stream == ROADS]},
        background={None: BACKGROUND},
        evaluate_at=query.evaluate_at,
    )
    assert _counted(over) == wanted
