"""Files of static RDF, indexed once: read in pieces, sorted, and kept in the user's cache."""

from __future__ import annotations

import atexit
import functools
import gzip
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from scepter.kept import own_file, own_folder
from scepter.rdf.arena import TextArena
from scepter.rdf.faults import NO_TRIPLES
from scepter.rdf.formats import GRAPH_FORMATS, bounded_static, grouped_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.limits import DEFAULT
from scepter.rdf.nquads import ReadState
from scepter.rdf.store import TripleStore, open_store, sorted_columns, write_store
from scepter.timeline import TimeKind

Progress = Callable[[int, int], None]
"""Hears how many bytes of how many are done."""
_VERSION: Final = 2
_CHUNK: Final = 16 * 2**20
_QUADS: Final = 100_000
_TRIPLE_TERM: Final = b"<<("
SALTED: Final = "b1x"
"""What stands before the labels of blank nodes in the texts."""


class Malformed(ValueError):
    """The file is no RDF that the fast reader knows; who wants to know why reads it with another."""


def stored(path: Path, progress: Progress | None = None) -> TripleStore:
    """The store of a file of static RDF: the one made before, if the file has not changed since; else it is made now."""
    status = path.stat()
    identity = f"{path.resolve()} {status.st_size} {status.st_mtime_ns} {_VERSION}"
    index = _cache() / f"{hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()}.graph"
    if (store := _opened(index)) is not None:
        return store
    descriptor, name = tempfile.mkstemp(dir=index.parent)
    os.close(descriptor)
    try:
        _build(path, Path(name), progress)
        Path(name).replace(index)  # where somebody else was first: it is the same graph
    finally:
        Path(name).unlink(missing_ok=True)
    return open_store(index)


def _opened(index: Path) -> TripleStore | None:
    """The index that was made before; None unless it is the user's own and whole."""
    descriptor = own_file(index)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        try:
            return open_store(index, file)
        except (ValueError, KeyError, TypeError, IndexError):
            return None


def _cache() -> Path:
    """The folder of indexes: the user's own, within one that is shared where that is the one given; else one for this
    process."""
    given = os.environ.get("SCEPTER_CACHE")
    try:
        root = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scepter" / "graphs"
    except RuntimeError:  # the user has no home
        return _temporary()
    user = f"user-{os.getuid()}" if hasattr(os, "getuid") else "user"
    return own_folder(root) or own_folder(root / user) or _temporary()


@functools.cache
def _temporary() -> Path:
    folder = tempfile.mkdtemp(prefix="scepter-graphs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _build(path: Path, made: Path, progress: Progress | None) -> None:
    key = TermKey.random()
    rows: list[NDArray[np.int32]] = []
    ids: list[NDArray[np.uint64]] = []
    refs: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    texts: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)]
    base = 0
    for chunk in _chunks(path, progress):
        found, places, buffer = _scanned(chunk, key)
        different, first, where = np.unique(found, return_index=True, return_inverse=True)
        arena = TextArena()
        arena.add_buffer(buffer)
        kept, moved = arena.compact(places.ravel()[first])
        rows.append(where.astype(np.int32))
        ids.append(different)
        refs.append(moved + base)
        texts.append(kept.buffer())
        base += kept.size
    every, first = np.unique(np.concatenate([np.empty(0, np.uint64), *ids]), return_index=True)
    # each chunk has numbered its terms in order: to look them up once per chunk is much less than once per triple
    numbered = (np.searchsorted(every, of)[part] for of, part in zip(ids, rows, strict=True))
    subjects, objects, by_object, order = sorted_columns(np.concatenate([np.empty((0, 3), np.int64), *numbered]))
    columns: dict[str, NDArray[np.generic]] = {
        "ids": every,
        "refs": np.concatenate(refs)[first],
        "texts": np.concatenate(texts),
        "subjects": subjects,
        "objects": objects,
        "by_object": by_object,
        "order": order,
    }
    write_store(made, key, columns)


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
        whole = format in (ox.RdfFormat.JSON_LD, ox.RdfFormat.RDF_XML)
        data = bounded_static(file.read(), format, path) if whole else cast(IO[bytes], _Shallow(file))
        quads = ox.parse(data, format=format, base_iri=path.absolute().as_uri())
        while part := [ox.Triple(q.subject, q.predicate, q.object) for q, _ in zip(quads, range(_QUADS), strict=False)]:
            yield ox.serialize(part, format=ox.RdfFormat.N_TRIPLES) or b""
    except SyntaxError as error:
        raise Malformed(str(error)) from None


@dataclass(slots=True)
class _Shallow:
    """A file of Turtle, or of a format like it, that is read in pieces. Its parser keeps brackets in a list, but triple terms
    within each other on the stack of its thread; a file with many of them is left to the other reader, which counts levels."""

    file: IO[bytes]
    opened: int = 0
    end: bytes = b""

    def read(self, size: int = -1) -> bytes:
        """The next piece."""
        data = self.file.read(size)
        seen = self.end + data
        self.opened += seen.count(_TRIPLE_TERM)
        self.end = seen[1 - len(_TRIPLE_TERM) :]
        if self.opened > DEFAULT.depth:
            raise Malformed("more triple terms than may nest")
        return data
