"""Texts of terms, read into columns under any key: ids as a scan of the same terms gives them, and the values of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.lexing import BACKSLASH, QUOTE, UNDERSCORE, term_end
from scepter.rdf.numerals import STRING_TYPE, UNDECIDED, exact_number
from scepter.rdf.scanner import decode_term, literal_end, read_number
from scepter.rdf.spelling import hash_term
from scepter.rdf.terms import Literal


@dataclass(frozen=True, slots=True)
class TermColumns:
    """One row per term."""

    ids: NDArray[np.uint64]
    number: NDArray[np.float64]
    """NaN where it is none."""
    scale: NDArray[np.int8]
    blank: NDArray[np.bool_]
    literal: NDArray[np.bool_]

    @classmethod
    def room(cls, terms: int) -> TermColumns:
        """Room for so many."""
        return cls(
            np.empty(terms, np.uint64), np.full(terms, np.nan), np.full(terms, NOT_A_NUMBER, np.int8),
            np.empty(terms, np.bool_), np.empty(terms, np.bool_),
        )  # fmt: skip

    def part(self, first: int, last: int) -> TermColumns:
        """A stretch of rows, not copied."""
        columns = (self.ids, self.number, self.scale, self.blank, self.literal)
        return TermColumns(*(column[first:last] for column in columns))  # type: ignore[arg-type]

    def take(self, rows: NDArray[np.int64]) -> TermColumns:
        """Some rows."""
        columns = (self.ids, self.number, self.scale, self.blank, self.literal)
        return TermColumns(*(column[rows] for column in columns))  # type: ignore[arg-type]


def read_terms(
    buffer: NDArray[np.uint8], places: NDArray[np.int64], key: TermKey, found: TermColumns, *, numbers: bool = True
) -> None:
    """Fill the columns with the terms at some places of a padded buffer; without `numbers`, those that take a second look have
    none."""
    scratch = np.empty(_longest(buffer, places) + 8, np.uint8)
    _read(buffer, places, key.words(), scratch, found.ids, found.number, found.scale, found.blank, found.literal)
    open = np.flatnonzero(found.scale == UNDECIDED)
    if not numbers:
        found.scale[open], open = NOT_A_NUMBER, open[:0]
    for row in open.tolist():
        term = decode_term(buffer, int(places[row]))
        if not isinstance(term, Literal):
            raise AssertionError("only literals are numbers")
        found.number[row], found.scale[row] = exact_number(term)
    found.number[found.scale == NOT_A_NUMBER] = np.nan


@njit(cache=True, nogil=True)
def _longest(buffer: Any, places: Any) -> Any:
    longest = 0
    for at in places:
        longest = max(longest, term_end(buffer, at) - at)
    return longest


@njit(cache=True, nogil=True)
def _read(buffer: Any, places: Any, key: Any, scratch: Any, ids: Any, number: Any, scale: Any, blank: Any, literal: Any) -> Any:
    for i in range(len(places)):
        at = places[i]
        literal[i] = buffer[at] == QUOTE
        blank[i] = buffer[at] == UNDERSCORE
        if literal[i]:
            end, quote, code, slow = literal_end(buffer, at, scratch)
            ids[i] = hash_term(buffer, at, end, quote, code, slow, scratch, key)
            if code > STRING_TYPE:
                number[i], scale[i] = read_number(buffer, at, quote, code, slow, scratch)
        else:
            end = term_end(buffer, at)
            slow = 0
            for j in range(at, end):
                if buffer[j] == BACKSLASH:
                    slow = 1
            ids[i] = hash_term(buffer, at, end, 0, 0, slow, scratch, key)
