from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

from scepter.kernel.state.container import MAGIC, VERSION, pack, unpack

ARRAYS = {
    "times": np.array([3, -1, 2**62]),
    "ids": np.array([[1, 2], [3, 2**64 - 1]], np.uint64),
    "scale": np.array([1, 2, 3], np.int8),
    "none": np.empty((0, 4), np.float64),
    "scalar": np.array(7),
}


def test_arrays_and_meta_come_back() -> None:
    arrays, meta = unpack(pack(ARRAYS, {"n": 3, "text": "grün"}))
    assert meta == {"n": 3, "text": "grün"}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape
        assert np.array_equal(arrays[name], array)


def test_what_comes_back_can_be_written_to_and_shares_nothing() -> None:
    packed = pack({"x": np.arange(4)})
    arrays, _ = unpack(memoryview(packed))
    arrays["x"][0] = 9
    assert unpack(packed)[0]["x"].tolist() == [0, 1, 2, 3]


def test_views_and_other_byte_orders_are_written_as_what_they_hold() -> None:
    arrays, _ = unpack(pack({"every other": np.arange(6)[::2], "turned": np.arange(6).reshape(2, 3).T}))
    assert arrays["every other"].tolist() == [0, 2, 4]
    assert arrays["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_big_endian_array_keeps_its_values() -> None:
    assert unpack(pack({"x": np.array([1, 256], ">i8")}))[0]["x"].tolist() == [1, 256]


@pytest.mark.parametrize(
    ("array", "bytes_each"),
    [
        (np.arange(1000) * 7 - 3, 0),
        (np.full(1000, 2**63 - 1), 0),
        (np.arange(1000)[::-1] * 2**50, 0),
        (np.arange(1000) % 250 - 2**62, 1),
        (np.arange(1000).reshape(10, 100) % 999, 2),
        ((np.arange(1000) * 40_000_037) % (2**32 - 1) + 2**62, 4),
        ((np.arange(1000) * 40_000_037) % (2**33), 8),
        (np.array([-(2**63), 2**63 - 1] * 500), 8),
        (np.array([0, 2**63 - 1, -2, *range(40)]), 8),
    ],
)
def test_integers_near_each_other_take_fewer_bytes(array: np.ndarray[Any, Any], bytes_each: int) -> None:
    packed = pack({"x": array, "more": np.array([1])})
    arrays, _ = unpack(packed)
    assert arrays["x"].dtype == np.int64 and arrays["more"].tolist() == [1]
    assert np.array_equal(arrays["x"], array)
    arrays["x"][...] = 9  # what comes back can be written to
    assert 0 <= len(packed) - bytes_each * array.size < 300


def test_what_the_first_version_wrote_is_read() -> None:
    header = json.dumps({"arrays": [["x", "<i8", [3]]], "meta": {"n": 1}}).encode()
    data = struct.pack("<4sBQ", MAGIC, 1, len(header)) + header + np.array([1, 2, 3]).tobytes()
    arrays, meta = unpack(data)
    assert arrays["x"].tolist() == [1, 2, 3] and meta == {"n": 1}


def test_nothing_is_something() -> None:
    assert unpack(pack({})) == ({}, {})


@pytest.mark.parametrize("data", [b"", b"SCPT", b"\0" * 64, b"PAR1" + bytes(60)])
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no packed arrays"):
        unpack(data)


def test_another_version_is_refused() -> None:
    data = bytearray(pack(ARRAYS))
    data[4] = VERSION + 1
    with pytest.raises(ValueError, match=f"version {VERSION + 1}, but this is version {VERSION}"):
        unpack(bytes(data))


@pytest.mark.parametrize("length", [20, 60, -8, -1])
def test_bytes_cut_short_are_refused(length: int) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack(pack({"x": np.arange(100, dtype=np.uint8).repeat(8)})[:length])


def _with_header(header: Any) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<4sBQ", MAGIC, VERSION, len(text)) + text + bytes(64)


@pytest.mark.parametrize(
    "header",
    [
        {},
        [],
        {"arrays": [], "meta": 3},
        {"arrays": [["x", "<i8"]], "meta": {}},
        {"arrays": [["x", "<i8", [-1]]], "meta": {}},
        {"arrays": [["x", "<i8", [2**62, 4]]], "meta": {}},
        {"arrays": [["x", "|O", [1]]], "meta": {}},
        {"arrays": [["x", "nonsense", [1]]], "meta": {}},
        {"arrays": [["x", "<i8", [2**62], [0, 1]]], "meta": {}},
        {"arrays": [["x", "<i8", [4], [0]]], "meta": {}},
        {"arrays": [["x", "<i8", [4], [2**70, 1]]], "meta": {}},
        {"arrays": [["x", "<i8", [4], ["<u2", 2**70]]], "meta": {}},
        {"arrays": [["x", "<i8", [4], ["<u2", "no"]]], "meta": {}},
        {"arrays": [["x", "<i8", [400], ["<u2", 0]]], "meta": {}},
    ],
)
def test_a_header_that_tells_nonsense_is_refused(header: Any) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack(_with_header(header))


def test_what_is_kept_is_sealed() -> None:
    data = pack(ARRAYS, {"n": 1}, sealed=True)
    assert unpack(data)[1] == {"n": 1}
    refused = 0
    for at in range(len(data)):
        torn = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        try:
            arrays, meta = unpack(torn)
        except ValueError:
            refused += 1
        else:  # a space of the header's padding, or the name of the checksum itself
            assert meta == {"n": 1}
            assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
    assert refused > 0.9 * len(data)
