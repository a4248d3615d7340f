"""Large static graphs as sorted columns in files that are mapped into memory: indexed once, shared by whoever opens them.

A term is a place in the table of the different terms; a triple is three places. Triples stand in order of predicate, subject
and object, and once more by predicate and object. Texts are read when somebody looks at a term.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from scepter.rdf.arena import TextArena
from scepter.rdf.formats import GRAPH_FORMATS, grouped_batch
from scepter.rdf.grouping import NO_TRIPLES
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.timeline import TimeKind

Progress = Callable[[int, int], None]
"""Hears how many bytes of how many are done."""
_VERSION: Final = 1
_CHUNK: Final = 16 * 2**20
_QUADS: Final = 100_000
_HIGH: Final = np.uint64(32)
SALTED: Final = "b1x"
"""What stands before the labels of blank nodes in the texts."""


class Malformed(ValueError):
    """The file is no RDF that the fast reader knows; who wants to know why reads it with another."""


@dataclass(frozen=True, slots=True)
class TripleStore:
    """The columns of one graph."""

    key: TermKey
    """Of the ids of its terms."""
    ids: NDArray[np.uint64]
    """Of the different terms, in order: a term's place is its place here."""
    refs: NDArray[np.int64]
    """Per term: where its text stands."""
    texts: NDArray[np.uint8]
    subjects: NDArray[np.uint64]
    """Per triple: the place of the predicate, times 2^32, plus that of the subject; in order."""
    objects: NDArray[np.uint32]
    """Per triple: the place of the object; in order where the rest is equal."""
    by_object: NDArray[np.uint64]
    """The place of the predicate, times 2^32, plus that of the object; in order."""
    order: NDArray[np.uint32]
    """The triples in that order."""

    def __len__(self) -> int:
        return len(self.objects)


def stored(path: Path, progress: Progress | None = None) -> TripleStore:
    """The store of a file of static RDF: the one made before, if the file has not changed since; else it is made now."""
    status = path.stat()
    identity = f"{path.resolve()} {status.st_size} {status.st_mtime_ns} {_VERSION}"
    folder = _cache() / hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()
    if not (folder / "key.json").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            _build(path, made, progress)
            with suppress(OSError):  # somebody else was first, and has made the same
                made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return open_store(folder)


def _cache() -> Path:
    given = os.environ.get("SCEPTER_CACHE")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scepter" / "graphs"


def open_store(folder: Path) -> TripleStore:
    """The store in a folder."""
    low, high = json.loads((folder / "key.json").read_text())
    names = ("ids", "refs", "texts", "subjects", "objects", "by_object", "order")
    columns = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in names)
    return TripleStore(TermKey(low, high), *columns)


def _build(path: Path, folder: Path, progress: Progress | None) -> None:
    key = TermKey.random()
    rows: list[NDArray[np.uint64]] = []
    ids: list[NDArray[np.uint64]] = []
    refs: list[NDArray[np.int64]] = []
    texts: list[NDArray[np.uint8]] = []
    base = 0
    for chunk in _chunks(path, progress):
        found, places, buffer = _scanned(chunk, key)
        different, first = np.unique(found, return_index=True)
        arena = TextArena()
        arena.add_buffer(buffer)
        kept, moved = arena.compact(places.ravel()[first])
        rows.append(found)
        ids.append(different)
        refs.append(moved + base)
        texts.append(kept.buffer())
        base += kept.size
    every, first = np.unique(np.concatenate([np.empty(0, np.uint64), *ids]), return_index=True)
    columns = _sorted(np.concatenate([np.empty((0, 3), np.uint64), *rows]))
    columns |= {
        "ids": every,
        "refs": np.concatenate([np.empty(0, np.int64), *refs])[first],
        "texts": np.concatenate([np.empty(0, np.uint8), *texts]),
    }
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    (folder / "key.json").write_text(json.dumps([key.low, key.high]))


def _sorted(rows: NDArray[np.uint64]) -> dict[str, NDArray[np.generic]]:
    """The triples, each once, as places in order."""
    _, places = np.unique(rows, return_inverse=True)
    subject, predicate, object = places.reshape(-1, 3).astype(np.uint64).T
    first = (predicate << _HIGH) | subject
    order = np.lexsort((object, first))
    first, object = first[order], object[order]
    new = np.ones(len(first), np.bool_)
    new[1:] = (first[1:] != first[:-1]) | (object[1:] != object[:-1])
    first, object = first[new], object[new]
    second = ((first >> _HIGH) << _HIGH) | object
    order = np.argsort(second, kind="stable")
    return {
        "subjects": first,
        "objects": object.astype(np.uint32),
        "by_object": second[order],
        "order": order.astype(np.uint32),
    }


def _scanned(chunk: bytes, key: TermKey) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]]:
    """The ids and the places of the terms of some N-Triples lines. All chunks are read as the same event, so that a label is
    the same blank node in all of them."""

    def refuse(code: int, event: int, line: bytes) -> None:
        if code != NO_TRIPLES:  # nothing but comments
            raise Malformed(line.decode("utf-8", errors="replace"))

    bounds, given = np.array([0, len(chunk)], np.int64), np.array([[0, 0, -1, 0]], np.int64)
    batch = grouped_batch(chunk, bounds, given, key, TimeKind.INTEGER, refuse, run=ReadState())
    ids = np.stack([batch.subject, batch.predicate, batch.object], axis=1)
    return ids, np.stack([batch.subject_at, batch.predicate_at, batch.object_at], axis=1), batch.buffer


def _chunks(path: Path, progress: Progress | None) -> Iterator[bytes]:
    """A file as N-Triples, in pieces of whole lines."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    format = GRAPH_FORMATS["".join((suffixes[:-1] if packed else suffixes)[-1:])]
    total = path.stat().st_size
    with path.open("rb") as raw:
        file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
        parts = _lines(file) if format == ox.RdfFormat.N_TRIPLES else _transcoded(file, format, path)
        for part in parts:
            yield part
            if progress is not None:
                progress(raw.tell(), total)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    rest = file.read(3).removeprefix(b"\xef\xbb\xbf")
    while block := file.read(_CHUNK):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
    if rest:
        yield rest


def _transcoded(file: IO[bytes], format: ox.RdfFormat, path: Path) -> Iterator[bytes]:
    try:
        quads = ox.parse(file, format=format, base_iri=path.absolute().as_uri())
        while part := [ox.Triple(q.subject, q.predicate, q.object) for q, _ in zip(quads, range(_QUADS), strict=False)]:
            yield ox.serialize(part, format=ox.RdfFormat.N_TRIPLES) or b""
    except SyntaxError as error:
        raise Malformed(str(error)) from None
