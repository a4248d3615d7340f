"""Term ids: a keyed 64-bit hash of a term's canonical text (architecture §2).

SipHash-1-3 under a key drawn per run, so that nobody can craft collisions and no dictionary has to be shared. What is hashed
is the N-Triples text with escapes decoded, the language tag in lower case and `^^xsd:string` left out: that form is unique
(what follows the last quote is the suffix), and for most terms it is the very bytes of the file.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scepter.inner import inlined, inner, shared
from scepter.rdf.terms import STRING, unescape
from scepter.rdf.words import load_word

_C0 = np.uint64(0x736F6D6570736575)
_C1 = np.uint64(0x646F72616E646F6D)
_C2 = np.uint64(0x6C7967656E657261)
_C3 = np.uint64(0x7465646279746573)
_FINISH = np.uint64(0xFF)
_EIGHT = np.uint64(8)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_STRING_SUFFIX = f"^^<{STRING}>"
_MASK = 2**64 - 1
FEW = 256
"""So many ids of a process Python makes itself. A query has some ten constants: for them alone a kernel would be compiled,
which takes as long as 15,000 of them."""
_MADE = count()


@dataclass(frozen=True, slots=True)
class TermKey:
    """The two 64-bit halves of the hash key of a run; kept in its checkpoint."""

    low: int
    high: int
    _words: NDArray[np.uint64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (0 <= self.low <= _MASK and 0 <= self.high <= _MASK):
            raise ValueError("a term key is two unsigned 64-bit integers")
        object.__setattr__(self, "_words", np.array([self.low, self.high], np.uint64))

    @classmethod
    def random(cls) -> TermKey:
        """A key nobody can guess."""
        return cls(secrets.randbits(64), secrets.randbits(64))

    @classmethod
    def fixed(cls) -> TermKey:
        """Always the same key: for tests and for plans that are printed."""
        return cls(0x0706050403020100, 0x0F0E0D0C0B0A0908)

    def words(self) -> NDArray[np.uint64]:
        """The key as the kernels take it, which do not write into it."""
        return self._words


def term_id(key: TermKey, text: str | bytes, salt: int = 0) -> int:
    """The id of a term from its N-Triples text, in any valid spelling; never 0, which stands for unbound.

    >>> key = TermKey.fixed()
    >>> term_id(key, '"a"') == term_id(key, '"\\\\u0061"^^<http://www.w3.org/2001/XMLSchema#string>')
    True

    A blank node's label means something only within its event: `salt` is the event's number in the run, 0 for a label that
    is unique in the run already.
    """
    plain = text.decode() if isinstance(text, bytes) else text
    if salt and plain.startswith("_:"):
        plain = salted_label(plain, salt)
    text = canonical_text(plain).encode()
    if next(_MADE) < FEW:
        return hash_of(text, key.low, key.high)
    data = np.frombuffer(text, dtype=np.uint8)
    return int(hash_bytes(data, 0, len(data), np.uint64(key.low), np.uint64(key.high)))


def hash_of(data: bytes, low: int, high: int) -> int:
    """`hash_bytes` of a whole text, by Python's own numbers.

    >>> hash_of(b"a", 0, 0)
    4644417185603328019
    """
    state = low ^ int(_C0), high ^ int(_C1), low ^ int(_C2), high ^ int(_C3)
    end = len(data) & ~7
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, end, 8)]
    for word in [*words, int.from_bytes(data[end:], "little") | (len(data) & 0xFF) << 56]:
        v0, v1, v2, v3 = _mixed(*state[:3], state[3] ^ word)
        state = v0 ^ word, v1, v2, v3
    v0, v1, v2, v3 = state
    v2 ^= 0xFF
    for _ in range(3):
        v0, v1, v2, v3 = _mixed(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3 or 1


def _mixed(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    """`_round`, by Python's own numbers."""
    v0 = (v0 + v1) & _MASK
    v1 = (v1 << 13 & _MASK | v1 >> 51) ^ v0
    v0 = v0 << 32 & _MASK | v0 >> 32
    v2 = (v2 + v3) & _MASK
    v3 = (v3 << 16 & _MASK | v3 >> 48) ^ v2
    v0 = (v0 + v3) & _MASK
    v3 = (v3 << 21 & _MASK | v3 >> 43) ^ v0
    v2 = (v2 + v1) & _MASK
    v1 = (v1 << 17 & _MASK | v1 >> 47) ^ v2
    return v0, v1, v2 << 32 & _MASK | v2 >> 32, v3


def salted_label(text: str, salt: int) -> str:
    """A blank node's text made unique in the run.

    >>> salted_label("_:x", 7)
    '_:b7xx'
    """
    return f"_:b{salt}x{text[2:]}"


def canonical_text(text: str) -> str:
    r"""The form that is hashed.

    >>> canonical_text('"a\\"b"@EN')
    '"a"b"@en'
    """
    if not text.startswith('"'):
        return unescape(text) if text.startswith("<") else text
    body, _, suffix = text[1:].rpartition('"')
    if suffix.startswith("@"):
        suffix = suffix.lower()
    elif (suffix := unescape(suffix)) == _STRING_SUFFIX:
        suffix = ""
    return f'"{unescape(body)}"{suffix}'


@inlined
def _rotate(value: Any, bits: Any) -> Any:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@inner
def _round(v0: Any, v1: Any, v2: Any, v3: Any) -> Any:
    v0 = v0 + v1
    v1 = _rotate(v1, np.int64(13)) ^ v0
    v0 = _rotate(v0, np.int64(32))
    v2 = v2 + v3
    v3 = _rotate(v3, np.int64(16)) ^ v2
    v0 = v0 + v3
    v3 = _rotate(v3, np.int64(21)) ^ v0
    v2 = v2 + v1
    v1 = _rotate(v1, np.int64(17)) ^ v2
    v2 = _rotate(v2, np.int64(32))
    return v0, v1, v2, v3


@shared
def hash_bytes(data: Any, start: Any, end: Any, low: Any, high: Any) -> Any:
    """SipHash-1-3 of `data[start:end]`; 1 in place of 0."""
    v0 = low ^ _C0
    v1 = high ^ _C1
    v2 = low ^ _C2
    v3 = high ^ _C3
    length = end - start
    at = start
    stop = start + (length // 8) * 8
    while at < stop:
        word = load_word(data, at)
        v3 ^= word
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        v0 ^= word
        at += 8
    rest = end - at
    last = np.uint64(length & 0xFF) << np.uint64(56)
    if rest > 0:
        if length >= 8:
            last |= load_word(data, end - 8) >> (_EIGHT * np.uint64(8 - rest))
        else:
            for i in range(rest):
                last |= np.uint64(data[at + i]) << (_EIGHT * np.uint64(i))
    v3 ^= last
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0 ^= last
    v2 ^= _FINISH
    for _ in range(3):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    result = v0 ^ v1 ^ v2 ^ v3
    return _ONE if result == _ZERO else result
