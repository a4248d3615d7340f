"""A stream that is followed in this process: its text comes in pieces, as through a socket, and each is answered at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import RESIDENT, Point
from scepter.bench.processes import resident_bytes
from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.live import LiveInput, LiveRun
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse

_PIECE: Final = 1 << 16
_LOOKS: Final = 20
"""How often a run looks at its memory."""


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """From text to matches, with what memory the run holds on the way."""
    before = resident_bytes()
    [(stream, path)] = point.streams.items()
    query = parse(point.query, point.language)
    ontology = [] if point.ontology is None else [point.ontology]
    static = load_background(query, {graph or None: [file] for graph, file in point.background.items()}, ontology)
    engine = LocalEngine(query.program, RunOptions(), static, ontology=load_ontology(query, ontology))
    wanted = None if engine.predicates is None else frozenset(term_id(engine.key, str(p)) for p in engine.predicates)
    number = engine.stream_number(IRI(stream))
    reader = NQuadsReader(engine.key, number, path, _refused, predicates=wanted, run=engine.reading, batch_bytes=1)
    of = LiveInput(stream)
    live = LiveRun(engine, (of,), _refused, lambda: time.time_ns() // 1000)
    found = state = 0
    told: dict[str, float] = {}

    def take(batches: Sequence[EventBatch]) -> int:
        live.take(of, batches)
        return len(live.advance())

    with open(path, "rb") as text:
        size = text.seek(0, 2)
        text.seek(0)
        while piece := text.read(_PIECE):
            batch = reader.feed(piece)
            found += take([] if batch is None else [batch])
            if text.tell() * _LOOKS >= (len(told) + 1) * size:
                told[RESIDENT % (100 * (len(told) + 1) // _LOOKS)] = (resident_bytes() - before) / 1e6
                state = max(state, sum(rows for kind, rows in engine.state_size().items() if kind != "texts"))
    batch = reader.finish()
    of.ended = True
    found += take([] if batch is None else [batch])
    return Outcome(found + len(live.finish()), state, told)


def _refused(letter: DeadLetter) -> None:
    """The text that warms a run up ends within an event; elsewhere the answers tell."""
