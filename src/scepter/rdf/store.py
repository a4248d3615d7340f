"""Large static graphs as sorted columns in one file that is mapped into memory: shared by whoever opens it.

A term is a place in the table of the different terms; a triple is three places. Triples stand in order of predicate, subject
and object, and once more by predicate and object. Texts are read when somebody looks at a term. `rdf.indexing` makes the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.arena import TextArena
from scepter.rdf.hashing import TermKey

_MAGIC: Final = b"SCG3"
_ALIGNED: Final = 64
_BLOCK: Final = 1 << 14
_HIGH: Final = np.uint64(32)
_NAMES: Final = ("ids", "refs", "texts", "subjects", "objects", "by_object", "order")
"""In this order: the texts are read by words, and something must stand behind the last."""


@dataclass(frozen=True, slots=True)
class TripleStore:
    """The columns of one graph."""

    key: TermKey
    """Of the ids of its terms. Drawn anew whenever a file is indexed, so that it also tells one index from another."""
    ids: NDArray[np.uint64]
    """Of the different terms, in order: a term's place is its place here."""
    refs: NDArray[np.int64]
    """Per term: where its text stands."""
    texts: TextArena
    subjects: NDArray[np.uint64]
    """Per triple: the place of the predicate, times 2^32, plus that of the subject; in order."""
    objects: NDArray[np.uint32]
    """Per triple: the place of the object; in order where the rest is equal."""
    by_object: NDArray[np.uint64]
    """The place of the predicate, times 2^32, plus that of the object; in order."""
    order: NDArray[np.uint32]
    """The triples in that order."""
    path: Path | None = None
    """The file it is mapped from."""

    def __len__(self) -> int:
        return len(self.objects)

    @classmethod
    def of(cls, key: TermKey, rows: NDArray[np.uint64], refs: NDArray[np.int64], texts: TextArena) -> TripleStore:
        """From the ids and the refs of triples in any order, some of them perhaps twice."""
        ids, first, places = np.unique(rows, return_index=True, return_inverse=True)
        return cls(key, ids, refs.ravel()[first], texts, *sorted_columns(places))


def sorted_columns(
    places: NDArray[np.int64],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32]]:
    """The places of triples, each triple once, in order: `subjects`, `objects`, `by_object`, `order`."""
    subject, predicate, object = places.astype(np.uint64).T
    first = (predicate << _HIGH) | subject
    order = np.lexsort((object, first))
    first, object = first[order], object[order]
    new = np.ones(len(first), np.bool_)
    new[1:] = (first[1:] != first[:-1]) | (object[1:] != object[:-1])
    first, object = first[new], object[new]
    second = ((first >> _HIGH) << _HIGH) | object
    order = np.argsort(second, kind="stable")
    return first, object.astype(np.uint32), second[order], order.astype(np.uint32)


def write_store(path: Path, key: TermKey, columns: Mapping[str, NDArray[np.generic]]) -> None:
    """The file of a store: a header that says where each column begins, then the columns."""
    where, at = {}, 0
    for name in _NAMES:
        where[name] = (columns[name].dtype.str, len(columns[name]), at)
        at += -(-columns[name].nbytes // _ALIGNED) * _ALIGNED
    told = {"key": [key.low, key.high], "columns": where, "bytes": at, "sum": [_sum(columns[name]) for name in _NAMES]}
    header = json.dumps(told).encode()
    with path.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(4, "little") + header + zlib.crc32(header).to_bytes(4, "little"))
        begin = _aligned(12 + len(header))
        for name in _NAMES:
            file.seek(begin + where[name][2])
            columns[name].tofile(file)
        file.truncate(begin + at + _ALIGNED)
        file.flush()
        os.fsync(file.fileno())


def open_store(path: Path, file: BinaryIO | None = None) -> TripleStore:
    """The store in a file, which may be open already; raises ValueError for a file that is none, or damaged."""
    whole = np.memmap(path if file is None else file, np.uint8, "r").view(np.ndarray)
    header, begin = _header(whole, path)
    if begin + header["bytes"] + _ALIGNED != len(whole):
        raise ValueError(f"{path} is not whole")

    def column(name: str) -> NDArray[Any]:
        kind, length, at = header["columns"][name]
        dtype = np.dtype(kind)
        return whole[begin + at : begin + at + length * dtype.itemsize].view(dtype)

    columns = {name: column(name) for name in _NAMES}
    if [_sum(columns[name]) for name in _NAMES] != header["sum"]:
        raise ValueError(f"{path} is damaged")
    texts = TextArena()
    texts.add_buffer(columns["texts"])
    return TripleStore(
        TermKey(*header["key"]), columns["ids"], columns["refs"], texts, columns["subjects"], columns["objects"],
        columns["by_object"], columns["order"], path,
    )  # fmt: skip


def _header(whole: NDArray[np.uint8], path: Path) -> tuple[dict[str, Any], int]:
    """What the file says of itself, and where its columns begin."""
    size = int.from_bytes(whole[4:8].tobytes(), "little")
    text, crc = whole[8 : 8 + size].tobytes(), whole[8 + size : 12 + size].tobytes()
    if whole[: len(_MAGIC)].tobytes() != _MAGIC or zlib.crc32(text).to_bytes(4, "little") != crc:
        raise ValueError(f"{path} is no index of this version, or damaged")
    found: dict[str, Any] = json.loads(text)
    return found, _aligned(12 + size)


def _sum(column: NDArray[np.generic]) -> str:
    """A checksum as quick as memory: of the sums of the words of each block. Who may write an index is another question
    (`kept`)."""
    data = np.ascontiguousarray(column).view(np.uint8)
    whole = len(data) // 8 * 8
    words = data[:whole].view(np.uint64)
    sums = np.add.reduceat(words, np.arange(0, len(words), _BLOCK)) if len(words) else words
    return hashlib.blake2b(sums.tobytes() + data[whole:].tobytes(), digest_size=16).hexdigest()


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
