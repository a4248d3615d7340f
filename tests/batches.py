"""Event batches made readable for tests, and events made into N-Quads."""

from __future__ import annotations

from collections.abc import Iterable

from scepter.rdf.batch import DeadLetter, EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.scanner import decode_term, term_text
from scepter.rdf.terms import BlankNode, Term

XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
KEY = TermKey.fixed()

Event = tuple[int, int, str | None, list[tuple[str, str, str]]]


def integer(value: object) -> str:
    return f'"{value}"^^<{XSD}integer>'


def at_time(name: str, value: object) -> str:
    return f"<http://e/{name}> <{PROV}generatedAtTime> {value if isinstance(value, str) else integer(value)} .\n"


def quad(name: str, subject: str = "<http://e/s>", predicate: str = "<http://e/p>", object: str = "<http://e/o>") -> str:
    return f"{subject} {predicate} {object} <http://e/{name}> .\n"


def term_at(batch: EventBatch, at: int) -> str:
    """The canonical text of a term."""
    return str(decode_term(batch.buffer, at))


def events_of(batches: Iterable[EventBatch | None]) -> list[Event]:
    """Start, end, name and triples of each event; ids are checked against the texts on the way."""
    found: list[Event] = []
    for batch in batches:
        if batch is None:
            continue
        check_ids(batch)
        for e in range(batch.events):
            rows = range(int(batch.first[e]), int(batch.first[e + 1]))
            name = None if batch.name_at[e] < 0 else term_text(batch.buffer, int(batch.name_at[e]))
            columns = (batch.subject_at, batch.predicate_at, batch.object_at)
            triples = [tuple(term_at(batch, int(column[row])) for column in columns) for row in rows]
            found.append((int(batch.start[e]), int(batch.end[e]), name, triples))  # type: ignore[arg-type]
    return found


def check_ids(batch: EventBatch) -> None:
    columns = (
        (batch.subject, batch.subject_at),
        (batch.predicate, batch.predicate_at),
        (batch.object, batch.object_at),
    )
    for ids, places in columns:
        for found, at in zip(ids.tolist(), places.tolist(), strict=True):
            assert found == term_id(KEY, term_at(batch, at))


def objects(batch: EventBatch) -> list[Term]:
    return [decode_term(batch.buffer, int(at)) for at in batch.object_at]


def unsalted(events: list[Event]) -> list[Event]:
    """Blank nodes by their place in the event, for comparing readings whose salts differ."""
    plain = []
    for start, end, name, triples in events:
        labels: dict[str, str] = {}
        renamed = [tuple(labels.setdefault(t, f"_:n{len(labels)}") if t.startswith("_:") else t for t in x) for x in triples]
        plain.append((start, end, name, renamed))
    return plain  # type: ignore[return-value]


def read(
    data: bytes | str,
    chunk: int | None = None,
    *,
    predicates: frozenset[int] | None = None,
    run: ReadState | None = None,
    batch_bytes: int = 1 << 20,
) -> tuple[list[Event], list[DeadLetter]]:
    """The events and dead letters of N-Quads text read in chunks."""
    raw = data.encode() if isinstance(data, str) else data
    letters: list[DeadLetter] = []
    reader = NQuadsReader(KEY, 0, "test.nq", letters.append, predicates=predicates, run=run, batch_bytes=batch_bytes)
    step = chunk or max(1, len(raw))
    batches = [reader.feed(raw[i : i + step]) for i in range(0, len(raw), step)]
    batches.append(reader.finish())
    return events_of(batches), letters


def blank_labels(terms: Iterable[Term]) -> list[str]:
    return [term.label for term in terms if isinstance(term, BlankNode)]
