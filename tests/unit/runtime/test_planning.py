"""The sample of a run's streams."""

from __future__ import annotations

from batches import KEY, at_time, integer, quad
from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.physical.facts import Facts
from scepter.rdf.batch import EventBatch
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import IRI
from scepter.rdf.values import to_literal
from scepter.runtime.planning import Sample

SUBJECT, OBJECT = Variable("s"), Variable("o")


def stream(number: int, times: range, predicate: str) -> EventBatch:
    reader = NQuadsReader(KEY, number, "s.nq", dead_letter=print)
    for time in times:
        name = f"{number}-{time}"
        reader.feed((at_time(name, time) + quad(name, predicate=f"<http://e/{predicate}>", object=integer(time % 2))).encode())
    batch = reader.finish()
    assert batch is not None
    return batch


def seen(predicate: str, *heads: EventBatch) -> int | None:
    sample = Sample.of(heads, KEY)
    found = None if sample is None else sample.known(Facts()).seen
    return None if found is None else found(TriplePattern(SUBJECT, Constant(IRI(f"http://e/{predicate}")), OBJECT))


def test_streams_count_over_the_same_stretch_of_time() -> None:
    often, slow = stream(0, range(600), "often"), stream(1, range(0, 60_000, 100), "slow")
    assert seen("often", often, slow) == 600
    assert seen("slow", often, slow) == 6
    assert seen("nothing", often, slow) == 0


def test_objects_count_too() -> None:
    sample = Sample.of([stream(0, range(600), "often")], KEY)
    assert sample is not None
    known = sample.known(Facts())
    odd = TriplePattern(SUBJECT, Variable("p"), Constant(to_literal(1)))
    assert known.seen is not None and known.seen(odd) == 300 and known.sampled == 600


def test_few_triples_tell_nothing() -> None:
    assert seen("often", stream(0, range(400), "often")) is None
    assert Sample.of([], KEY) is None
