"""What no future match can use is released, for each operator."""

from __future__ import annotations

import pytest

from buckets import Buckets, job_of, triples
from harness.feeding import S, events, query
from scepter import Engine, Event, parse
from scepter.rdf.terms import IRI, Literal

SEQUENCES = [
    "A; B",
    "A: B",
    "A, B",
    "A, B+",
    "B+; C",
    "A; N!; B",
    "N!; A; B",
    "A; B; N!",
    "A; O?; B",
    "(A & B); C",
    "A: (B | C)",
]
WINDOWS = ["WITHIN 10 SLIDING", "WITHIN 10"]


def live(engine: Engine) -> dict[str, int]:
    return {name: rows for name, rows in engine.state_size().items() if name in ("runs", "remembered", "waiting") and rows}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("seq", SEQUENCES)
def test_after_the_window_nothing_is_left(seq: str, window: str) -> None:
    engine = Engine(parse(query(seq, window)))
    engine.push_all(events("1a 2a 3b 4n 4c 5a 6b 6o 7b 8c 9n"))
    engine.advance(1000)
    engine.advance(1001)
    assert live(engine) == {}


def test_windows_of_events_let_go_as_events_come() -> None:
    engine = Engine(parse(query("A: B", "WITHIN 5 EVENTS")))
    engine.push_all(events("1a 2a 3a " + " ".join(f"{t}x" for t in range(4, 40))))
    engine.advance(39)
    assert live(engine) == {}


def test_strict_contiguity_keeps_runs_for_one_instant_only() -> None:
    engine = Engine(parse(query("A, B", "WITHIN 1000 SLIDING")))
    engine.push_all(events("1a 2a 3x 4x"))
    assert live(engine) == {}


@pytest.mark.slow
def test_a_long_stream_stays_flat() -> None:
    # time  0     1     10    11         200,000 events: of 500 houses that are never seen again
    #       500a  500b  500a  500b  …
    engine = Engine(parse(query("A; B", "WITHIN 50 SLIDING", A="?h :a ?va", B="?h :b ?vb")))
    number = Literal("1", "http://www.w3.org/2001/XMLSchema#integer")
    largest: dict[str, int] = {}
    matches = 0
    for block in range(200):
        for kind, time in (("a", block * 10), ("b", block * 10 + 1)):
            houses = [IRI(f"http://e/house{block}-{i}") for i in range(500)]
            matches += len(engine.push_all(Event(S, [(h, IRI(f"http://e/{kind}"), number)], time) for h in houses))
        if block >= 20:
            largest = {name: max(largest.get(name, 0), rows) for name, rows in engine.state_size().items()}
    assert matches == 200 * 500
    assert largest["runs"] < 20_000
    assert largest["nodes"] < 60_000
    assert largest["events"] < 60_000
    assert largest["texts"] < 200 * 2**20
    engine.advance(10_000)
    engine.advance(10_001)
    assert live(engine) == {}


ASKED = """PREFIX : <http://example/>
SELECT ?v ?w WITHIN 10 SLIDING FROM STREAM S <http://example/s> WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?x :a ?v }
  DEFINE GPM B ON S { ?x :b ?w FILTER (EXISTS { ?x :ok ?y } = (?w > ?v)) }
}"""


def test_graphs_that_exists_asks_are_let_go_though_others_wait() -> None:
    run = Buckets(job_of(parse(ASKED, "spaseq"), live=True))
    found, sizes = [], []
    for time in range(1, 201):  # seven events wait at all times
        ok = ":x :ok true ." if time % 4 == 0 else ""
        run.take("http://example/s", time, time, triples(f":x :{'ba'[time % 2]} {time} . {ok}"))
        found += run.release(time - 7)
        (work,) = run.works.values()
        sizes.append(len(work.pipeline.around.graphs))
        if time == 100:
            run.read(run.written())
    found += run.finish()
    # every second :b is ok, and follows the two :a since the last one that was
    assert sorted((match.start, match.end) for match in found) == [
        (b - before, b) for b in range(4, 201, 4) for before in (3, 1)
    ]
    assert max(sizes) < 20
