"""Texts one behind the other in one buffer; and which terms among them are not spelt as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.inner import inlined
from scepter.rdf.terms import STRING

_STRING_END = np.frombuffer(f'"^^<{STRING}>'.encode(), np.uint8).copy()
_QUOTE, _AT, _LESS, _ESCAPE, _SPACE, _DELETE = b'"@<\\ \x7f'


class Packed(NamedTuple):
    """Texts as bytes."""

    starts: NDArray[np.int64]
    """Where each text begins, the first one at 0, and the end of the last one."""
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Packed:
        """From texts.

        >>> Packed.of(["a", "bc"]).starts.tolist()
        [0, 1, 3]
        """
        encoded = [text.encode() for text in texts]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=starts[1:])
        return cls(starts, np.frombuffer(bytearray().join(encoded), np.uint8))

    @classmethod
    def together(cls, parts: Sequence[Packed]) -> Packed:
        """Some texts behind others."""
        if len(parts) == 1:
            return parts[0]
        base, starts = 0, [np.zeros(1, np.int64)]
        for part in parts:
            starts.append(part.starts[1:] + base)
            base += len(part.data)
        return cls(np.concatenate(starts), np.concatenate([part.data for part in parts]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def text(self, place: int) -> str:
        """One of them."""
        return self.data[self.starts[place] : self.starts[place + 1]].tobytes().decode()

    def unusual(self) -> NDArray[np.bool_]:
        """Of terms in N-Triples form, those that are not spelt as they are shown, or that other formats have to parse: escapes,
        control characters, languages, triple terms, xsd:string said aloud.

        >>> Packed.of(['"a"', '"a"@en']).unusual().tolist()
        [False, True]
        """
        found = np.empty(len(self), np.bool_)
        _mark_unusual(self.data, self.starts, _STRING_END, found)
        return found


@inlined
def _is_unusual(data: Any, low: Any, high: Any, string: Any) -> Any:
    if high - low >= 2 and data[low] == _LESS and data[low + 1] == _LESS:
        return True
    for i in range(low, high):
        byte = data[i]
        if byte < _SPACE or byte in (_ESCAPE, _DELETE):
            return True
        if byte == _AT and i > low and data[i - 1] == _QUOTE:
            return True
    same = 0
    while same < min(high - low, len(string)) and data[high - 1 - same] == string[len(string) - 1 - same]:
        same += 1
    return same == len(string)


@njit(cache=True, nogil=True)
def _mark_unusual(data: Any, starts: Any, string: Any, found: Any) -> Any:
    for text in range(len(found)):
        found[text] = _is_unusual(data, starts[text], starts[text + 1], string)
