"""The naive evaluator gives the answers of the conformance suite: what it is worth as a judge of the engine.

The cases are read by a reader of its own, a few lines for the notation these cases use, so that nothing is shared with the
case runner that the engine is tested with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, compress
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import yaml

from naive.comparison import comparable_graph, comparable_number
from naive.spaseq import Event, Match, evaluate_program
from scepter.algebra.query import Query
from scepter.algebra.walk import find
from scepter.errors import QueryError
from scepter.lower import lower
from scepter.rdf.terms import WELL_KNOWN_PREFIXES, Term, Triple, parse_term
from scepter.timeline import TimeKind, parse_instant

CASES = sorted(
    path
    for path in (Path(__file__).parents[3] / "cases" / "spaseq").glob("*.case.yaml")
    if "\nontology:" not in path.read_text("utf-8")  # the naive evaluator is given what events state, not what they entail
)
EVENT = re.compile(r"\s*(?P<start>\S+?)(?:\.\.(?P<end>\S+))?\s*\{(?P<graph>.*)\}\s*(?:#.*)?\Z")


def turtle(text: str, prefixes: Mapping[str, str]) -> frozenset[Triple]:
    head = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in {**WELL_KNOWN_PREFIXES, **prefixes}.items())
    return frozenset(
        Triple(*(parse_term(str(term)) for term in (quad.subject, quad.predicate, quad.object)))
        # in braces, because there a last dot may be missing
        for quad in ox.parse(f"{head}<x:g> {{ {text} }}", format=ox.RdfFormat.TRIG)
    )


def term(text: str, prefixes: Mapping[str, str]) -> Term:
    ((_, _, found),) = turtle(f"<x:s> <x:p> {text} .", prefixes)
    return found


def events_of(case: Mapping[str, Any]) -> Iterator[tuple[Event, TimeKind]]:
    for stream, text in case["streams"].items():
        for number, line in enumerate(filter(str.strip, text.splitlines())):
            match = EVENT.match(line)
            assert match is not None, line
            start, kind = parse_instant(match["start"])
            end, _ = parse_instant(match["end"] or match["start"])
            yield Event(stream, start, end, turtle(match["graph"], case["prefixes"]), f"e{number + 1}"), kind


def comparable_in_case(found: Term) -> object:
    """Numbers by datatype and value (spec/60-cases)."""
    return comparable_number(found, with_datatype=True)


def expected(case: Mapping[str, Any]) -> Counter[object]:
    prefixes = case["prefixes"]

    def interval(row: Mapping[str, Any]) -> tuple[int, int]:
        return parse_instant(str(row["start"]))[0], parse_instant(str(row["end"]))[0]

    if "expect-graphs" in case:
        return Counter((*interval(row), comparable_graph(turtle(row["graph"], prefixes))) for row in case["expect-graphs"])
    return Counter(
        (
            *interval(row),
            frozenset((k, comparable_in_case(term(v, prefixes))) for k, v in row.items() if k not in ("start", "end")),
        )
        for row in case["expect"]
    )


def answer(match: Match) -> object:
    if match.graph is not None:
        return match.start, match.end, comparable_graph(match.graph)
    return match.start, match.end, frozenset((name, comparable_in_case(value)) for name, value in match.row)


def test_there_are_cases() -> None:
    assert len(CASES) >= 56


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".case.yaml"))
def test_case(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    options = case.get("options", {})
    background = {name: turtle(text, case["prefixes"]) for name, text in case.get("background", {}).items()}
    if "expect-error" in case:
        # Checks are the lowering's, or (a background graph nobody gave) the run's; the evaluator sees checked queries only.
        if "GRAPH" not in case["query"]:
            with pytest.raises(QueryError, match=re.escape(case["expect-error"])):
                lower(case["query"], "spaseq")
        return
    timed = list(events_of(case))
    program = lower(case["query"], "spaseq").program
    answers = evaluate_program(
        program,
        [event for event, _ in timed],
        background=background,
        start=options.get("start", 0),
        kind=timed[0][1],
        time_unit=options.get("time-unit", "ms"),
    )
    shown = [getattr(unit.result, "into", None) is None for unit in find(program, Query)]  # what feeds others is no answer
    assert Counter(map(answer, chain.from_iterable(compress(answers, shown)))) == expected(case)
