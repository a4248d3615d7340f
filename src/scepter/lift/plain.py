"""A mapping without events: the triples and named graphs that RML-Core says it makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TypeAlias

import numpy as np

from scepter.lift.documents import document_rows, json_documents
from scepter.lift.lifter import is_default_graph
from scepter.lift.model import Mapping, TermMap
from scepter.lift.placing import aligned
from scepter.lift.rows import Rows
from scepter.lift.tables import csv_rows, parquet_rows
from scepter.lift.terms import Writer, cross
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import TermKey
from scepter.rdf.scanner import term_text
from scepter.rdf.source import DeadLetterTaker

Quad: TypeAlias = tuple[str, str, str, str | None]
"""N-Triples texts of subject, predicate, object and graph; None for the default graph."""
_DOCUMENTS = frozenset({".json", ".jsonl", ".ndjson"})


def plain_quads(file: IO[bytes], extension: str, mapping: Mapping, source: str, dead_letter: DeadLetterTaker) -> Iterator[Quad]:
    """The triples that a mapping makes of a file, row by row, those of a row each once."""
    for iterator, rows in _rows(file, extension, mapping, source, dead_letter):
        yield from row_quads(mapping, iterator, rows, source, dead_letter)


def _rows(
    file: IO[bytes], extension: str, mapping: Mapping, source: str, dead_letter: DeadLetterTaker
) -> Iterator[tuple[str | None, Rows]]:
    needed = mapping.references
    if extension in _DOCUMENTS:
        for documents in json_documents(file, source, dead_letter):
            for iterator in mapping.iterators:
                yield iterator, document_rows(documents, iterator)
        return
    delimiter = "\t" if extension == ".tsv" else None
    parquet = extension == ".parquet"
    blocks = (
        parquet_rows(file, needed, source, dead_letter) if parquet else csv_rows(file, needed, source, dead_letter, delimiter)
    )
    for rows in blocks:
        for iterator in mapping.iterators:
            yield iterator, rows


def row_quads(mapping: Mapping, iterator: str | None, rows: Rows, source: str, dead_letter: DeadLetterTaker) -> Iterator[Quad]:
    """The triples of the maps of one iterator over some rows."""
    # one scope for all rows: a label that two rows make is the same blank node
    writer = Writer(rows, TermKey.fixed(), mapping.base, np.zeros(rows.count, np.int64))
    found: list[list[Quad]] = [[] for _ in range(rows.count)]
    for each in mapping.maps:
        if each.iterator != iterator:
            continue
        for number, (predicate, object) in enumerate(each.objects):
            graphs = each.graphs_of(number) or (None,)
            for graph in graphs:
                for row, quad in _pair_quads(writer, each.subject, predicate, object, graph, rows.count):
                    found[row].append(quad)
    for row, reason in [*((fault.row, fault.reason) for fault in writer.faults), *sorted(rows.faults.items())]:
        dead_letter(DeadLetter(source, rows.line(row), reason, rows.text(row)))
    for quads in found:
        yield from dict.fromkeys(quads)


def _pair_quads(
    writer: Writer, subject: TermMap, predicate: TermMap, object: TermMap, graph: TermMap | None, count: int
) -> Iterator[tuple[int, Quad]]:
    terms = (writer.terms(subject), writer.terms(predicate), writer.terms(object))
    owner, at = aligned(terms, count)
    named = None if graph is None or is_default_graph(graph) else writer.terms(graph).per_entry()
    buffer = writer.buffer()
    places: list[tuple[int, int, int]] = []
    rows: list[int] = []
    for i in range(len(owner)):
        if all(each.good[where[i]] for each, where in zip(terms, at, strict=True)):
            rows.append(int(owner[i]))
            s, p, o = (int(each.places[where[i]]) for each, where in zip(terms, at, strict=True))
            places.append((s, p, o))
    if named is None:
        for row, (s, p, o) in zip(rows, places, strict=True):
            yield row, (term_text(buffer, s), term_text(buffer, p), term_text(buffer, o), None)
        return
    owners = np.arange(count) if named.owner is None else named.owner
    left, right = cross(np.array(rows, np.int64), owners)
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        j = 0 if named.constant else j
        if named.good[j]:
            s, p, o = places[i]
            name = term_text(buffer, int(named.places[j]))
            yield rows[i], (term_text(buffer, s), term_text(buffer, p), term_text(buffer, o), name)
