"""Named arrays as bytes: the written form of state and of what crosses a shuffle. Versioned; no code in it.

Layout: 4 bytes magic, 1 byte version, 8 bytes length of a JSON header, the header (a list of [name, dtype, shape, how] and
free `meta`), then the arrays' bytes one after the other, little-endian, each padded to 8. `how` is left out where they stand
as they are. Integers of 64 bits whose values are near each other stand as [dtype, least], the difference to the least in a
narrower dtype; equal steps as [first, step] alone. Times, places and numbers of events are mostly such.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"SCPT"
VERSION = 2
_READ = (1, 2)
"""The first version has no `how`."""
_MOST = 1 << 28
"""No array has more numbers: a header that tells more is damaged."""
_LONG = 32
"""Arrays from so many numbers on are looked at."""
_INT64 = np.dtype("<i8")
_HEAD = struct.Struct("<4sBQ")

Arrays = dict[str, NDArray[Any]]


def pack(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any] | None = None, *, sealed: bool = False) -> bytes:
    """Bytes of named arrays; `sealed`: with a checksum, for what is kept.

    >>> arrays, meta = unpack(pack({"x": np.array([1, 2])}, {"n": 3}))
    >>> arrays["x"].tolist(), meta
    ([1, 2], {'n': 3})
    """
    listed: list[list[Any]] = []
    parts = []
    for name, array in arrays.items():
        written = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        told = [name, written.dtype.str, list(array.shape)]
        if written.dtype == _INT64 and written.size >= _LONG:
            how, written = _shorter(written)
            told += [how] if how else []
        data = written.tobytes()
        listed.append(told)
        parts += [data, b"\0" * (-len(data) % 8)]
    whole: dict[str, Any] = {"arrays": listed, "meta": dict(meta or {})}
    if sealed:
        whole["crc"] = _crc(whole, parts)
    header = json.dumps(whole).encode()
    header += b" " * (-(len(header) + _HEAD.size) % 8)
    return b"".join([_HEAD.pack(MAGIC, VERSION, len(header)), header, *parts])


def _shorter(array: NDArray[np.int64]) -> tuple[list[Any], NDArray[Any]]:
    """How integers can stand in fewer bytes, and what is left of them; nothing and themselves where they cannot."""
    flat = array.reshape(-1)
    first, last, step = int(flat[0]), int(flat[-1]), int(flat[1]) - int(flat[0])
    if last - first == step * (flat.size - 1) and bool((np.diff(flat) == step).all()):
        return [first, step], flat[:0]
    least, most = int(flat.min()), int(flat.max())
    for narrow in ("<u1", "<u2", "<u4"):
        if most - least < 1 << 8 * np.dtype(narrow).itemsize:
            return [narrow, least], (flat - least).astype(narrow)
    return [], array


def _crc(told: Mapping[str, Any], parts: Iterable[bytes | memoryview]) -> int:
    """Over the arrays' bytes, their names and the meta."""
    crc = zlib.crc32(json.dumps([told["arrays"], told["meta"]]).encode())
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc


def unpack(data: bytes | memoryview) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the meta of `pack`; raises ValueError for bytes of another kind or version."""
    if len(data) < _HEAD.size:
        raise ValueError("these bytes are no packed arrays")
    magic, version, size = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise ValueError("these bytes are no packed arrays")
    if version not in _READ:
        raise ValueError(f"packed arrays of version {version}, but this is version {VERSION}")
    try:
        header = json.loads(bytes(data[_HEAD.size : _HEAD.size + size]))
        if "crc" in header and _crc(header, [memoryview(data)[_HEAD.size + size :]]) != header["crc"]:
            raise ValueError("the checksum is another")
        return _arrays(data, _HEAD.size + size, header["arrays"]), dict(header["meta"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"these packed arrays are damaged: {error}") from error


def _arrays(data: bytes | memoryview, at: int, listed: list[list[Any]]) -> Arrays:
    arrays: Arrays = {}
    for name, dtype, shape, *told in listed:
        how = told[0] if told else None
        count = math.prod(shape)
        if any(length < 0 for length in shape) or count > _MOST:
            raise ValueError(f"{name} of shape {shape} is not there")
        if how is not None and not isinstance(how[0], str):
            first, step = how
            arrays[name] = (first + step * np.arange(count, dtype=np.int64)).reshape(shape)
            continue
        kind = np.dtype(dtype if how is None else how[0])
        if count * kind.itemsize > len(data) - at:
            raise ValueError(f"{name} of shape {shape} is not there")
        stored = np.frombuffer(data, kind, count, at).reshape(shape)
        arrays[name] = stored.copy() if how is None else stored.astype(np.int64) + how[1]
        at += count * kind.itemsize
        at += -at % 8
    return arrays
