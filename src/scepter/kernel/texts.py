"""Where the texts of terms stand: the live arena, which is compacted, and the fixed one of the background."""

from __future__ import annotations

from collections.abc import Sequence


from scepter.kernel.solutions import Int64
from scepter.rdf.arena import TextArena
from scepter.rdf.batch import EventBatch
from scepter.rdf.terms import Term

FIXED = 1 << 62
"""Refs from here on point into the fixed arena."""
_CACHE = 50_000


class Texts:
    """Both arenas behind one kind of ref, with the terms decoded last."""

    def __init__(self) -> None:
        self._live = TextArena()
        self._fixed = TextArena()
        self._terms: dict[int, Term] = {}

    @property
    def size(self) -> int:
        """Bytes of the live arena."""
        return self._live.size

    def add(self, batch: EventBatch) -> int:
        """Take over a batch's buffer; its offsets plus the returned base are refs."""
        return self._live.add_buffer(batch.buffer)

    def append(self, texts: Sequence[str]) -> Int64:
        """Take terms that stand in no buffer."""
        return self._live.append_terms(texts)

    def append_fixed(self, texts: Sequence[str]) -> Int64:
        """Take terms that stay for the whole run."""
        return self._fixed.append_terms(texts) + FIXED

    def term(self, ref: int) -> Term:
        """The term at a ref."""
        term = self._terms.get(ref)
        if term is None:
            term = self._fixed.term(ref - FIXED) if ref >= FIXED else self._live.term(ref)
            if len(self._terms) >= _CACHE:
                self._terms.clear()
            self._terms[ref] = term
        return term

    def compact(self, refs: Int64) -> Int64:
        """Keep only the live texts the refs point at; returns the refs' new values (those < 0 and fixed ones unchanged)."""
        moving = (refs >= 0) & (refs < FIXED)
        self._live, moved = self._live.compact(refs[moving])
        self._terms.clear()
        renewed = refs.copy()
        renewed[moving] = moved
        return renewed
