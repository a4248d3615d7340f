"""Named arrays as bytes: the written form of state and of what crosses a shuffle. Versioned; no code in it.

Layout: 4 bytes magic, 1 byte version, 8 bytes length of a JSON header, the header (a list of [name, dtype, shape] and free
`meta`), then the arrays' bytes one after the other, little-endian, each padded to 8.
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
VERSION = 1
_HEAD = struct.Struct("<4sBQ")

Arrays = dict[str, NDArray[Any]]


def pack(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any] | None = None, *, sealed: bool = False) -> bytes:
    """Bytes of named arrays; `sealed`: with a checksum, for what is kept.

    >>> arrays, meta = unpack(pack({"x": np.array([1, 2])}, {"n": 3}))
    >>> arrays["x"].tolist(), meta
    ([1, 2], {'n': 3})
    """
    listed = [[name, array.dtype.newbyteorder("<").str, list(array.shape)] for name, array in arrays.items()]
    parts = []
    for array in arrays.values():
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        parts += [data, b"\0" * (-len(data) % 8)]
    told: dict[str, Any] = {"arrays": listed, "meta": dict(meta or {})}
    if sealed:
        told["crc"] = _crc(told, parts)
    header = json.dumps(told).encode()
    header += b" " * (-(len(header) + _HEAD.size) % 8)
    return b"".join([_HEAD.pack(MAGIC, VERSION, len(header)), header, *parts])


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
    if version != VERSION:
        raise ValueError(f"packed arrays of version {version}, but this is version {VERSION}")
    try:
        header = json.loads(bytes(data[_HEAD.size : _HEAD.size + size]))
        if "crc" in header and _crc(header, [memoryview(data)[_HEAD.size + size :]]) != header["crc"]:
            raise ValueError("the checksum is another")
        return _arrays(data, _HEAD.size + size, header["arrays"]), dict(header["meta"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"these packed arrays are damaged: {error}") from error


def _arrays(data: bytes | memoryview, at: int, listed: list[tuple[str, str, list[int]]]) -> Arrays:
    arrays: Arrays = {}
    for name, dtype, shape in listed:
        kind = np.dtype(dtype)
        count = math.prod(shape)
        if any(length < 0 for length in shape) or count * kind.itemsize > len(data) - at:
            raise ValueError(f"{name} of shape {shape} is not there")
        arrays[name] = np.frombuffer(data, kind, count, at).reshape(shape).copy()
        at += count * kind.itemsize
        at += -at % 8
    return arrays
