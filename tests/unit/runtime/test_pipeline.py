"""The pipeline: rows wait for their time, an open instant can be undone, matches show bindings and events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.algebra.expressions import Arithmetic, Compare, Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.algebra.query import Ask, Construct, Result, Select
from scepter.kernel.build import Surroundings
from scepter.kernel.operator import Until
from scepter.kernel.rows import Rows
from scepter.kernel.scan.intake import Intake
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.ontology.schema import Schema
from scepter.physical.nodes.nodes import Extend, Filter, Node, Project, Static, TripleScan, Union
from scepter.rdf.formats import GraphEvent, events_to_batch, parse_graph
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI, Triple
from scepter.rdf.values import to_literal
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.registry import TaskSetup
from scepter.timeline import TimeKind

EX = "http://example/"
X, V, W = Variable("x"), Variable("v"), Variable("w")


def iri(name: str) -> Constant:
    return Constant(IRI(EX + name))


class Run:
    """A pipeline over one stream, with events given as text."""

    def __init__(
        self,
        root: Node,
        result: Result | None = None,
        *,
        background: Background | None = None,
        ontology: Sequence[Triple] = (),
        at_once: bool = True,
    ) -> None:
        self.key, self.texts, self.reading = TermKey.fixed(), Texts(), ReadState()
        background = background or Background()
        setup = TaskSetup(
            TimeKind.INTEGER, RunOptions(), background, tuple(ontology), self.texts, lambda: [IRI(EX + "s")],
            lambda number, name: name or f"#{number}", True, key=self.key,
        )  # fmt: skip
        flattened = Schema.from_triples(ontology).flattened() if ontology else None
        around = Surroundings(self.key, self.texts, background, TimeKind.INTEGER, flattened=flattened)
        self.number = 0
        columns = tuple((Variable(name), None) for name in root.schema.variables)
        self.pipeline = Pipeline(root, result or Select(columns), 0, setup, around, at_once=at_once)

    def take(self, time: int, graph: str) -> None:
        triples = [(str(s), str(p), str(o)) for s, p, o in parse_graph(f"PREFIX : <{EX}>\n{graph}")]
        batch = events_to_batch([GraphEvent(0, None, time, time, triples)], self.key, TimeKind.INTEGER, run=self.reading)
        intake = Intake(batch, self.texts.add(batch), self.number)
        self.number += 1
        self.pipeline.take(intake, np.ones(1, np.bool_))


def told(matches: Sequence[Match]) -> list[str]:
    return [f"{m.start}..{m.end} " + " ".join(f"{k}={_short(v)}" for k, v in sorted(m.bindings.items())) for m in matches]


def _short(term: object) -> str:
    return str(term).replace(f"<{EX}", "").replace(">", "").split("^^")[0].strip('"')


PRICE = TripleScan(TriplePattern(X, iri("price"), V), label="A")


def test_rows_wait_for_their_time_whatever_order_they_came_in() -> None:
    run = Run(Project(Filter(PRICE, (Compare(">", V, Constant(to_literal(5))),)), ("x", "v")))
    for time, value in ((3, 7), (1, 9), (2, 4)):
        run.take(time, f":a :price {value} .")
    assert told(run.pipeline.release(0, 0)) == []
    assert told(run.pipeline.release(2, 2)) == ["1..1 v=9 x=a"]
    assert told(run.pipeline.finish()) == ["3..3 v=7 x=a"]


def test_matches_show_the_events_of_labelled_parts() -> None:
    run = Run(PRICE)
    run.take(1, ":a :price 1 .")
    run.take(2, ":b :price 2 .")
    assert [m.events for m in run.pipeline.finish()] == [{"A": ["#0"]}, {"A": ["#1"]}]


def test_an_open_instant_is_answered_and_undone() -> None:
    run = Run(PRICE)
    run.take(1, ":a :price 1 .")
    run.pipeline.release(1, 1)
    run.pipeline.commit()
    run.pipeline.save()
    run.take(2, ":a :price 2 .")
    assert told(run.pipeline.release(2, 1)) == ["2..2 v=2 x=a"]
    run.pipeline.undo()
    run.take(2, ":a :price 3 .")
    assert told(run.pipeline.release(2, 1)) == ["2..2 v=3 x=a"]
    run.pipeline.commit()
    assert told(run.pipeline.finish()) == []


def test_what_waits_for_a_closed_instant_is_not_answered_before() -> None:
    run = Run(PRICE, at_once=False)
    run.take(2, ":a :price 2 .")
    assert told(run.pipeline.release(2, 1)) == []
    assert told(run.pipeline.release(2, 2)) == ["2..2 v=2 x=a"]


def test_an_expression_that_fails_leaves_its_variable_unbound() -> None:
    run = Run(Extend(PRICE, "w", Arithmetic("*", V, Constant(to_literal(2)))))
    run.take(1, ':a :price 2 , "x" .')
    assert sorted(told(run.pipeline.finish())) == ["1..1 v=2 w=4 x=a", "1..1 v=x x=a"]


def test_a_side_of_a_union_leaves_the_others_variables_unbound() -> None:
    run = Run(Union(PRICE, TripleScan(TriplePattern(X, iri("size"), W))))
    run.take(2, ":a :price 1 .")
    run.take(1, ":b :size 2 .")
    assert told(run.pipeline.finish()) == ["1..1 w=2 x=b", "2..2 v=1 x=a"]


def test_a_static_graph_is_looked_up() -> None:
    static = Background(
        [Triple(IRI(EX + "a"), IRI(EX + "in"), IRI(EX + "c")), Triple(IRI(EX + "c"), IRI(EX + "in"), IRI(EX + "c"))]
    )
    y = Variable("y")
    run = Run(Static(PRICE, None, (TriplePattern(X, iri("in"), y), TriplePattern(y, iri("in"), y))), background=static)
    run.take(1, ":a :price 1 . :b :price 2 .")
    assert told(run.pipeline.finish()) == ["1..1 v=1 x=a y=c"]


def test_streamed_triples_stand_for_what_they_entail_once_per_event() -> None:
    a, sub = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), IRI("http://www.w3.org/2000/01/rdf-schema#subClassOf")
    schema = [Triple(IRI(EX + kind), sub, IRI(EX + "Animal")) for kind in ("Cat", "Pet")]
    run = Run(TripleScan(TriplePattern(X, Constant(a), iri("Animal"))), ontology=schema)
    run.take(1, ":tom a :Cat , :Pet .")
    run.take(2, ":tom a :Cat .")
    assert told(run.pipeline.finish()) == ["1..1 x=tom", "2..2 x=tom"]


def test_a_variable_that_stands_twice_is_one_term() -> None:
    run = Run(TripleScan(TriplePattern(X, iri("knows"), X)))
    run.take(1, ":a :knows :b . :b :knows :b .")
    assert told(run.pipeline.finish()) == ["1..1 x=b"]


def test_ask_is_answered_once_and_a_graph_without_triples_is_none() -> None:
    run = Run(PRICE, Ask(), at_once=False)
    for time in (1, 2):
        run.take(time, ":a :price 1 .")
    assert [(m.end, m.boolean) for m in run.pipeline.finish()] == [(1, True)]
    made = Run(PRICE, Construct((TriplePattern(V, iri("of"), X),)))
    made.take(1, ":a :price 1 , :b .")
    assert [[str(t) for t in m.graph[0]] for m in made.pipeline.finish() if m.graph] == [[f"<{EX}b>", f"<{EX}of>", f"<{EX}a>"]]


def test_refs_of_what_waits_can_be_exchanged() -> None:
    run = Run(PRICE)
    run.take(5, ":a :price 1 .")
    arrays = list(run.pipeline.swap_refs())
    renewed = run.texts.compact(np.concatenate([array.ravel() for array in arrays]))
    at = 0
    for array in arrays:
        array[...] = renewed[at : at + array.size].reshape(array.shape)
        at += array.size
    assert told(run.pipeline.finish()) == ["5..5 v=1 x=a"]


def test_an_operator_that_rests_is_asked_only_when_rows_come() -> None:
    run = Run(Filter(PRICE, (Compare(">", V, Constant(to_literal(5))),)))
    asked: list[int] = []
    operator = run.pipeline.root
    process = operator.process

    def counted(inputs: Sequence[Rows], until: Until) -> Rows:
        asked.append(until.time)
        return process(inputs, until)

    operator.process = counted  # type: ignore[method-assign]
    run.pipeline.release(1, 1)
    run.take(3, ":a :price 7 .")
    assert told(run.pipeline.release(2, 2)) == []
    assert told(run.pipeline.release(3, 3)) == ["3..3 v=7 x=a"]
    assert told(run.pipeline.release(4, 4)) == []
    assert asked == [3]
