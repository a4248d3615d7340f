"""Predicates that a query needs and its streams do not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from scepter.algebra.expressions import Constant
from scepter.algebra.notation import Notation
from scepter.algebra.timed import TimedProgram
from scepter.errors import Diagnostic, Severity, nearest
from scepter.insight.hints.needed_patterns import needed_patterns
from scepter.insight.hints.times import stream_name
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import EventSource
from scepter.rdf.terms import IRI, OWL, RDFS, Term, Triple
from scepter.runtime.queries import Query

LOOKED_AT = 10_000
"""So many events of each stream are looked at."""
_BATCH = 1 << 20
"""Bytes read at once: little more than those events need."""


def absent_predicates(
    query: Query, streams: Mapping[str, EventSource], background: Background, ontology: Iterable[Triple]
) -> Iterator[Diagnostic]:
    """A warning for each predicate that every match needs and that no stream of its pattern has."""
    wanted = _wanted(query, static_predicates(background, ontology) | _derived(query))
    if not wanted:
        return
    seen = {iri: predicates_of(source) for iri, source in streams.items()}
    notation = Notation(dict(query.lowered.prefixes))
    told: set[tuple[IRI, str | None]] = set()
    for constant, stream in wanted:
        predicate = constant.term
        assert isinstance(predicate, IRI)
        read = [stream] if stream is not None else list(seen)
        if (predicate, stream) in told or not read or not all(iri in seen for iri in read):
            continue
        told.add((predicate, stream))
        there = set().union(*(seen[iri][0] for iri in read))
        if any(seen[iri][2] for iri in read) and predicate.value not in there:
            whole = all(seen[iri][1] for iri in read)
            where = f"the stream {stream_name(query, stream)}" if stream is not None else "the streams"
            absent = f"{where} never has" if whole and stream is not None else f"{where} never have"
            if not whole:
                absent = f"the first {LOOKED_AT:,} events of {where} do not have"
            close = _near(predicate.value, there)
            advice = None if close is None else f"did you mean {notation.term(IRI(close))}?"
            message = f"{absent} the predicate {notation.term(predicate)}"
            yield Diagnostic("predicate-absent", message, constant.span, advice, severity=Severity.WARNING)


def _wanted(query: Query, known: frozenset[IRI]) -> list[tuple[Constant, str | None]]:
    derived = query.lowered.derived
    found: list[tuple[Constant, str | None]] = []
    for unit in query.lowered.program.units:
        if any(stream.iri in derived for stream in unit.streams):
            continue
        for needed in needed_patterns(unit):
            for triple in needed.triples:
                if isinstance(triple.predicate, Constant) and triple.predicate.term not in known:
                    found.append((triple.predicate, None if needed.stream is None else needed.stream.value))
    return found


def static_predicates(background: Background, ontology: Iterable[Triple]) -> frozenset[IRI]:
    """Predicates that need not be in a stream: of static data, and all that the schema speaks of."""
    dataset = background.dataset
    terms = {predicate for graph in (dataset.default, *dataset.named.values()) for predicate in graph.predicates()}
    return frozenset(term for term in terms if isinstance(term, IRI)) | spoken_of(background, ontology)


def spoken_of(background: Background, ontology: Iterable[Triple]) -> frozenset[IRI]:
    """All that the schema speaks of: static graphs may come to have it."""
    dataset = background.dataset
    graphs = (dataset.default, *dataset.named.values())
    stated = (
        triple
        for graph in graphs
        for word in filter(_of_schema, graph.predicates())
        for triple in graph.match(None, word, None)
    )
    schema = (*stated, *(triple for triple in ontology if _of_schema(triple.predicate)))
    return frozenset(term for triple in schema for term in (triple.subject, triple.object) if isinstance(term, IRI))


def _derived(query: Query) -> frozenset[IRI]:
    """Predicates that rules derive."""
    rules = [rule for unit in query.lowered.program.units if isinstance(unit, TimedProgram) for rule in unit.rules]
    named = (triple.predicate for rule in rules for triple in rule.template)
    return frozenset(each.term for each in named if isinstance(each, Constant) and isinstance(each.term, IRI))


def _of_schema(predicate: Term) -> bool:
    return isinstance(predicate, IRI) and predicate.value.startswith((RDFS, OWL))


def predicates_of(source: EventSource) -> tuple[set[str], bool, int]:
    """The predicates of a source's first events, whether these are all, and how many there are."""
    found: set[str] = set()
    ids: set[int] = set()
    events = 0
    for batch in source.batches(TermKey.fixed(), 0, lambda letter: None, run=ReadState(), batch_bytes=_BATCH):
        if events >= LOOKED_AT:
            return found, False, events
        rows = int(batch.first[min(batch.events, LOOKED_AT - events)])
        new, places = np.unique(batch.predicate[:rows], return_index=True)
        texts = Texts()
        base = texts.add(batch)
        for id, place in zip(new.tolist(), places.tolist(), strict=True):
            if id not in ids:
                ids.add(id)
                found.add(str(texts.term(int(batch.predicate_at[place]) + base))[1:-1])
        events += batch.events
    return found, events <= LOOKED_AT, events


def _near(predicate: str, there: Iterable[str]) -> str | None:
    """The predicate that was probably meant: of the same namespace with a similar name, or of the same name."""
    namespace, name = _split(predicate)
    by_name = {_split(other)[1]: other for other in sorted(there) if _split(other)[0] == namespace}
    close = nearest(name, by_name) or next((known for known in by_name if known.lower() == name.lower()), None)
    if close is not None:
        return by_name[close]
    return next((other for other in sorted(there) if _split(other)[1].lower() == name.lower()), None)


def _split(iri: str) -> tuple[str, str]:
    at = max(iri.rfind("#"), iri.rfind("/")) + 1
    return iri[:at], iri[at:]
