"""Downward compatibility (spec/20-ep-sparql rule 8): SPARQL over one instant is SPARQL."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from property.sparql_strategies import bgps, graphs, inline_data, path_patterns, patterns
from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import (
    Alternative,
    Group,
    NegatedPropertySet,
    PathPattern,
    PathSequence,
    Pattern,
    Values,
)
from scepter.algebra.query import Program, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import TimedProgram, TimedQuery
from scepter.algebra.walk import find
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.kernel.static.background import Background
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.terms import IRI, Term, Triple
from scepter.runtime.engine import LocalEngine
from scepter.runtime.options import RunOptions
from scepter.timeline import TimeKind

MANY = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])

Rows = Counter[frozenset[tuple[str, Term]]]


def seen(row: dict[str, Term]) -> frozenset[tuple[str, Term]]:
    return frozenset((name, term) for name, term in row.items() if not name.startswith("_:"))


def over_an_instant(pattern: Pattern, *graphs: list[Triple]) -> Rows:
    """The rows over events of one instant."""
    shown = tuple((Variable(name), None) for name in sorted(in_scope(pattern)) if not name.startswith("_:"))
    engine = LocalEngine(Program((TimedProgram((TimedQuery(Select(shown), pattern),)),)), RunOptions(), Background())
    stream = engine.stream_number(IRI("http://example/s"))
    events = [GraphEvent(stream, None, 7, 7, [(str(s), str(p), str(o)) for s, p, o in graph]) for graph in graphs]
    engine.take(events_to_batch(events, engine.key, TimeKind.INTEGER, run=engine.reading))
    found = engine.finish()
    assert all((match.start, match.end) == (7, 7) for match in found)
    return Counter(seen(match.bindings) for match in found)


def has(pattern: Pattern, *kinds: type) -> bool:
    return any(next(find(pattern, kind), None) is not None for kind in kinds)


@MANY
@given(patterns(bgps), graphs)
def test_patterns_over_one_instant_are_sparql(pattern: Pattern, triples: list[Triple]) -> None:
    # A group of nothing has a row in SPARQL; over time nothing has entered it.
    assume(triples and not any(not group.keys for group in find(pattern, Group)))
    wanted = Counter(seen(row) for row in solutions(pattern, Graph(triples)))
    event(f"solutions: {min(3, wanted.total())}")
    assert over_an_instant(pattern, triples) == wanted


@MANY
@given(patterns(bgps, inline_data()), graphs)
def test_what_needs_no_triple_holds_wherever_it_stands(pattern: Pattern, triples: list[Triple]) -> None:
    assume(triples and has(pattern, Values) and not any(not group.keys for group in find(pattern, Group)))
    wanted = Counter(seen(row) for row in solutions(pattern, Graph(triples)))
    event(f"solutions: {min(3, wanted.total())}")
    assert over_an_instant(pattern, triples) == wanted


@MANY
@given(patterns(bgps, path_patterns), graphs)
def test_paths_within_one_event_are_sparql(pattern: Pattern, triples: list[Triple]) -> None:
    assume(triples and has(pattern, PathPattern) and not has(pattern, Group))
    wanted = Counter(seen(row) for row in solutions(pattern, Graph(triples)))
    found = over_an_instant(pattern, triples)
    if has(pattern, Alternative, PathSequence, NegatedPropertySet):
        assert set(found) == set(wanted)
    else:
        assert found == wanted


@MANY
@given(bgps, st.lists(graphs, max_size=3))
def test_the_same_triples_over_several_events_of_an_instant(pattern: Pattern, parts: list[list[Triple]]) -> None:
    triples = [triple for part in parts for triple in part]
    wanted = Counter(seen(row) for row in solutions(pattern, Graph(triples)))
    assume(triples)
    assert over_an_instant(pattern, *filter(None, parts)) == wanted
