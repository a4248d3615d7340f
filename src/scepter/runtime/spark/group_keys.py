"""Where the buckets of a live run lie on Spark: keys of groups that go round its tasks.

Spark sends a group to the task that the hash of its key tells: Murmur3, modulo their number. Of few keys that is uneven: of 64
buckets on 16 tasks the fullest had eight. The hash of one number can be undone. So the key of a bucket is the number whose hash
is where the bucket stands in the row of all of them, and buckets follow each other from task to task, however many tasks there
are. Were the hash another one, they would lie unevenly, and answers would be the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_BITS: Final = 0xFFFFFFFF
_SEED: Final = 42
_FIRST: Final = 0xCC9E2D51
_SECOND: Final = 0x1B873593
_THIRD: Final = 0x85EBCA6B
_FOURTH: Final = 0xC2B2AE35
_ADDED: Final = 0xE6546B64


@lru_cache(maxsize=1 << 16)
def placed(buckets: int, share: int, bucket: int) -> int:
    """The key of a bucket's group, given how many buckets a share has at most. What was found, and goes past other buckets, has
    a share below zero. The next share begins one task further: where each has one bucket, they do not meet in one task.

    >>> [hashed(placed(32, share, 0)) % 8 for share in range(4)]
    [0, 1, 2, 3]
    """
    return undone(share * (buckets + 1) + bucket)


@lru_cache(maxsize=1 << 16)
def at_place(buckets: int, key: int) -> tuple[int, int]:
    """The share and the bucket whose group has this key; below zero the share of what is for no bucket.

    >>> at_place(32, placed(32, 3, 31)), at_place(32, placed(32, -3, 31)), at_place(32, place_of_times(32))
    ((3, 31), (-3, 31), (-1, 0))
    """
    return (-1, 0) if key == place_of_times(buckets) else divmod(hashed(key), buckets + 1)


def place_of_times(buckets: int) -> int:
    """The key of the group that hears of all events and keeps of which run the state is. It is the one that it has had in every
    version: state of another one is found there, and refused."""
    return -2 * buckets - 1


def hashed(key: int) -> int:
    """Spark's hash of an int.

    >>> hashed(0), hashed(1), hashed(-1)
    (933211791, -559580957, -1604776387)
    """
    mixed = _turned(key * _FIRST & _BITS, 15) * _SECOND & _BITS
    found = (_turned(_SEED ^ mixed, 13) * 5 + _ADDED & _BITS) ^ 4
    found = (found ^ found >> 16) * _THIRD & _BITS
    found = (found ^ found >> 13) * _FOURTH & _BITS
    return _signed(found ^ found >> 16)


def undone(hash: int) -> int:
    """The int with this hash: each step of it can be undone.

    >>> [undone(hashed(key)) for key in (0, 7, -7, 2**31 - 1, -(2**31))]
    [0, 7, -7, 2147483647, -2147483648]
    """
    found = _unshifted(hash & _BITS, 16) * pow(_FOURTH, -1, 1 << 32) & _BITS
    found = _unshifted(found, 13) * pow(_THIRD, -1, 1 << 32) & _BITS
    found = (_unshifted(found, 16) ^ 4) - _ADDED & _BITS
    mixed = _SEED ^ _turned(found * pow(5, -1, 1 << 32) & _BITS, 19)
    mixed = _turned(mixed * pow(_SECOND, -1, 1 << 32) & _BITS, 17)
    return _signed(mixed * pow(_FIRST, -1, 1 << 32) & _BITS)


def _turned(bits: int, by: int) -> int:
    return (bits << by | bits >> 32 - by) & _BITS


def _unshifted(bits: int, by: int) -> int:
    """What becomes `bits` where it is combined with itself, shifted."""
    found = bits
    for _ in range(32 // by):
        found = bits ^ found >> by
    return found


def _signed(bits: int) -> int:
    return bits - (1 << 32) if bits >> 31 else bits
