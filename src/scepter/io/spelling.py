"""How formats spell terms: from their texts in N-Triples form, each different one once, by one compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from scepter.inner import inner
from scepter.rdf.packed import Packed
from scepter.rdf.terms import Term, parse_term
from scepter.runtime.graphs import Spelt

_LESS, _MORE, _QUOTE, _COMMA, _UNDERSCORE = b'<>",_'
_IRI, _BLANK, _LITERAL, _TYPED = 0, 2, 4, 6
"""Where the texts around a kind of term stand."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a format spells terms."""

    iri: tuple[str, str]
    """What stands before and behind an IRI that has lost its brackets."""
    blank: tuple[str, str]
    """What stands before and behind a blank node's label."""
    literal: tuple[str, str]
    """What stands before and behind the lexical form of a plain literal."""
    typed: tuple[str, str, str] | None
    """What stands before, between and behind the lexical form and the datatype of others; None leaves the datatype out."""
    unusual: Callable[[Term], str]
    """Spells a term that the above does not fit."""
    commas: bool = False
    """Whether terms with a comma stand between quotation marks."""

    def __call__(self, terms: Spelt) -> Packed:
        """Each term as the format spells it."""
        texts = terms.texts
        around = Packed.of([*self.iri, *self.blank, *self.literal, *(self.typed or (*self.literal, ""))])
        which = np.flatnonzero(terms.unusual)
        others = Packed.of([self.unusual(parse_term(texts.text(at))) for at in which.tolist()])
        # a term has at most its own bytes, the longest texts around it, and two quotation marks
        most = len(texts.data) + len(others.data) + (len(around.data) + 2) * len(terms.unusual)
        room, starts = np.empty(most, np.uint8), np.zeros(len(terms.unusual) + 1, np.int64)
        _spell(texts, terms.unusual, others, around, (self.typed is not None, self.commas), room, starts)
        return Packed(starts, room[: starts[-1]])


@inner
def _copied(data: Any, low: Any, high: Any, out: Any, at: Any) -> Any:
    for i in range(low, high):
        out[at] = data[i]
        at += 1
    return at


@njit(cache=True, nogil=True)
def _spell(texts: Any, unusual: Any, others: Any, around: Any, options: Any, out: Any, starts: Any) -> Any:
    """A usual term is `<…>`, `_:…`, `"…"` or `"…"^^<…>`, without an escape: what stands inside is what is shown."""
    text_starts, data = texts
    other_starts, other_data = others
    around_starts, around_data = around
    typed, commas = options
    other = 0
    at = np.int64(0)
    for term in range(len(unusual)):
        low, high = text_starts[term], text_starts[term + 1]
        if unusual[term]:
            at = _copied(other_data, other_starts[other], other_starts[other + 1], out, at)
            other += 1
            starts[term + 1] = at
            continue
        kind, end = _LITERAL, high - 1
        if data[low] == _LESS:
            kind = _IRI
        elif data[low] == _UNDERSCORE:
            kind, end = _BLANK, high
            low += 1
        elif data[high - 1] == _MORE:
            kind, end = _TYPED, low + 1
            while data[end] != _QUOTE:
                end += 1
        low += 1
        quoted = False
        if commas:
            for i in range(low, end):
                quoted = quoted or data[i] == _COMMA
        at = _copied(around_data, around_starts[kind], around_starts[kind + 1], out, at)
        if quoted:
            out[at] = _QUOTE
            at += 1
        at = _copied(data, low, end, out, at)
        if quoted:
            out[at] = _QUOTE
            at += 1
        at = _copied(around_data, around_starts[kind + 1], around_starts[kind + 2], out, at)
        if kind == _TYPED and typed:  # from behind `"^^<` to `>`
            at = _copied(data, end + 4, high - 1, out, at)
            at = _copied(around_data, around_starts[kind + 2], around_starts[kind + 3], out, at)
        starts[term + 1] = at
