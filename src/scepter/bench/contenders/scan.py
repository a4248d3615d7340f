"""Scepter's readers alone: N-Quads, or rows through a mapping, to batches of events; with the predicates of the point's options
or with all."""

from __future__ import annotations

from scepter.bench.contenders import Outcome, Work
from scepter.bench.model import Point
from scepter.io.sources import open_source
from scepter.lift.load import load_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import TermKey, term_id


def prepared(name: str) -> Work:
    """Nothing to set up."""
    return run


def run(point: Point) -> Outcome:
    """How many triples are kept; none of the lines may be refused."""
    key = TermKey.fixed()
    wanted = str(point.options.get("predicates", "")).split()
    predicates = frozenset(term_id(key, f"<{iri}>") for iri in wanted) if wanted else None
    kept = 0
    refused: list[DeadLetter] = []
    mapping = point.options.get("map")
    lift = None if mapping is None else MappedReaders(load_mapping(str(mapping)))
    for path in point.streams.values():
        for batch in open_source(path, lift=lift).batches(key, 0, refused.append, predicates=predicates):
            kept += batch.triples
    return Outcome(-1 if refused else kept)
