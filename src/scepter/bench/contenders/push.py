"""One pushed event at a time, after so many that were pushed ahead (the option `ahead`) and some that warm up.

What is loaded by then is taken out of the garbage collector's sight, as docs/how-to/low-delay.md tells."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import groupby, islice
from typing import Final

import numpy as np
import pyoxigraph

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import DELAYS, ONE_BY_ONE, TOGETHER, Point
from scepter.compiled import settle
from scepter.rdf.terms import Term, parse_term
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import parse

MEDIAN, LATE, LARGEST = DELAYS
WARM_UP: Final = 20
"""Pushes that load what single events need, and are not counted."""


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """CPU time of single pushes; the answers are those of all events."""
    engine = Engine(
        parse(point.query, point.language),
        background={graph or None: path for graph, path in point.background.items()} or None,
        ontology=None if point.ontology is None else [point.ontology],
    )
    [(stream, path)] = point.streams.items()
    events = _events(stream, path)
    ahead = list(islice(events, int(point.options.get("ahead", 0))))
    began = time.process_time()
    found = len(engine.push_all(ahead))
    together = time.process_time() - began
    for event in islice(events, WARM_UP):
        found += len(engine.push(event))
    settle()
    taken = []
    for event in events:
        began = time.process_time()
        found += len(engine.push(event))
        taken.append(1000 * (time.process_time() - began))
    middle, late, largest = np.percentile(np.array(taken or [0.0]), [50, 99, 100])
    state = sum(rows for kind, rows in engine.state_size().items() if kind != "texts")
    told = {MEDIAN: float(middle), LATE: float(late), LARGEST: float(largest)}
    if ahead and taken:
        told |= {ONE_BY_ONE: 1000 * len(taken) / sum(taken), TOGETHER: len(ahead) / together}
    return Outcome(found + len(engine.close()), state, told)


def _events(stream: str, path: str) -> Iterator[Event]:
    """The events of N-Quads in which each is a run of lines, its time the last."""
    quads = pyoxigraph.parse(path=path, format=pyoxigraph.RdfFormat.N_QUADS)
    triples: list[tuple[Term, Term, Term]] = []
    for of_event, lines in groupby(quads, lambda quad: not isinstance(quad.graph_name, pyoxigraph.DefaultGraph)):
        if of_event:
            triples = [(_term(q.subject), _term(q.predicate), _term(q.object)) for q in lines]
        else:
            [told] = lines
            assert isinstance(told.object, pyoxigraph.Literal)
            yield Event(stream, triples, int(told.object.value))


def _term(term: object) -> Term:
    return parse_term(str(term))
