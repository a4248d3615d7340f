"""Where the texts of terms stand: the live arena, which is compacted, and the fixed one of the background."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.rows import Int64, UInt64
from scepter.rdf.arena import NO_REF, TextArena, gather
from scepter.rdf.batch import EventBatch
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.rekeying import TermColumns
from scepter.rdf.terms import Term

FIXED = 1 << 62
"""Refs from here on point into the fixed arena."""
_CACHE = 50_000
_SORTED = 128
"""Texts of at most so many bytes are sorted as they stand."""
_SPELLING = np.array([0, *b"\\@"], np.uint8)
_SHARED = 160
"""Four times what a text takes: with a ref for each so many bytes, most of them are used."""


class TextsView:
    """Texts that stay as they are. Terms with the same id are the same, so that decoded ones are kept by id."""

    __slots__ = ("_by_id", "_fixed", "_live")

    def __init__(self, live: TextArena, fixed: TextArena, by_id: dict[int, Term]) -> None:
        self._live = live
        self._fixed = fixed
        self._by_id = by_id

    def term(self, ref: int, id: int | None) -> Term:
        """The term at a ref; `id` (if known) lets it be found again."""
        term = None if id is None else self._by_id.get(id)
        if term is None:
            term = self._fixed.term(ref - FIXED) if ref >= FIXED else self._live.term(ref)
            if id is not None:
                if len(self._by_id) >= _CACHE:
                    self._by_id.clear()
                self._by_id[id] = term
        return term

    def initials(self, refs: Int64) -> NDArray[np.uint8]:
        """The first byte of the text at each ref, which tells the kind of term; 0 where there is no ref."""
        return _initials(refs, self._live, self._fixed)

    def sortable(self, refs: Int64) -> NDArray[np.bytes_] | None:
        """The texts at some refs, padded to one length, so that their bytes are in the order of the terms' texts; None where
        they are long, or could be spelt in another way: with escapes, language tags, xsd:string."""
        buffer, places = self.texts(refs)
        starts, spelt = gather(buffer, places)
        widest = int(np.diff(starts).max(initial=0))
        if not 0 < widest <= _SORTED or bool(np.isin(spelt, _SPELLING).any()):
            return None
        padded = np.zeros((len(refs), widest), np.uint8)
        padded[np.arange(widest) < np.diff(starts)[:, None]] = spelt
        found = padded.view(f"S{widest}").ravel()
        return None if bool(np.char.endswith(found, b"#string>").any()) else found

    def texts(self, refs: Int64) -> tuple[NDArray[np.uint8], Int64]:
        """A buffer that holds the texts at some refs, and where each stands in it."""
        fixed = refs >= FIXED
        live, places = self._live.compact(refs[~fixed])
        if not fixed.any():
            return live.buffer(), places
        background, behind = self._fixed.compact(refs[fixed] - FIXED)
        moved = np.empty(len(refs), np.int64)
        moved[~fixed], moved[fixed] = places, behind + live.size
        return np.concatenate([live.buffer(), background.buffer()]), moved


class Texts:
    """Both arenas behind one kind of ref, with the terms decoded last."""

    def __init__(self, like: Texts | None = None) -> None:
        """No texts yet; the fixed ones are shared with those of `like`."""
        self._live = TextArena()
        self._fixed: TextArena = TextArena() if like is None else like._fixed
        self._terms: dict[int, Term] = {}
        self._by_id: dict[int, Term] = {}
        self.compactions = 0
        """How often refs have changed."""

    @property
    def size(self) -> int:
        """Bytes of the live arena."""
        return self._live.size

    @property
    def fixed(self) -> TextArena:
        """The texts that stay; a ref less FIXED is a ref into it."""
        return self._fixed

    def add(self, batch: EventBatch) -> int:
        """Take over a batch's buffer; its offsets plus the returned base are refs."""
        return self._live.add_buffer(batch.buffer)

    def append(self, texts: Sequence[str]) -> Int64:
        """Take terms that stand in no buffer."""
        return self._live.append_terms(texts)

    def append_lines(self, lines: NDArray[np.uint8]) -> int:
        """Take terms that are written already, each with the end of its line; offsets plus the returned base are refs."""
        return self._live.add_buffer(lines)

    def append_fixed(self, texts: Sequence[str]) -> Int64:
        """Take terms that stay for the whole run."""
        return self._fixed.append_terms(texts) + FIXED

    def add_fixed(self, texts: TextArena) -> int:
        """Take texts that stay for the whole run as they stand (no copy); their refs plus the returned base are refs."""
        return self._fixed.add_buffers(texts) + FIXED

    def read(self, refs: Int64, key: TermKey, *, numbers: bool = True) -> TermColumns:
        """What terms that `append` took are told by in columns."""
        return self._live.read(refs, key, numbers=numbers)

    def initials(self, refs: Int64) -> NDArray[np.uint8]:
        """As `TextsView.initials`."""
        return _initials(refs, self._live, self._fixed)

    def endings(self, refs: Int64, names: Sequence[bytes]) -> Int64:
        """Of numbers, which of some endings the text at each ref has; the number of endings where it has none of them.

        >>> texts = Texts()
        >>> texts.endings(texts.append(['"1"^^<a>', '"2"^^<b>']), [b'"^^<b>']).tolist()
        [1, 0]
        """
        fixed = refs >= FIXED
        if not fixed.any():
            return self._live.endings(refs, names)
        found = np.empty(len(refs), np.int64)
        found[fixed] = self._fixed.endings(refs[fixed] - FIXED, names)
        found[~fixed] = self._live.endings(refs[~fixed], names)
        return found

    def known(self, ref: int, id: int) -> Term:
        """The term at a ref, which is decoded once however often its id comes."""
        term = self._by_id.get(id)
        if term is None:
            if len(self._by_id) >= _CACHE:
                self._by_id.clear()
            term = self._by_id[id] = self.term(ref)
        return term

    def term(self, ref: int) -> Term:
        """The term at a ref."""
        term = self._terms.get(ref)
        if term is None:
            term = self._fixed.term(ref - FIXED) if ref >= FIXED else self._live.term(ref)
            if len(self._terms) >= _CACHE:
                self._terms.clear()
            self._terms[ref] = term
        return term

    def view(self, refs: Int64) -> tuple[TextsView, Int64]:
        """A copy of just the texts that refs point at, which later compaction does not touch, and the refs into it."""
        moving = (refs >= 0) & (refs < FIXED)
        copy, moved = self._live.compact(refs[moving])
        renewed = refs.copy()
        renewed[moving] = moved
        return TextsView(copy, self._fixed, self._by_id), renewed

    def table_view(self, ids: UInt64, refs: Int64, names: Int64) -> tuple[TextsView, Int64, Int64]:
        """A view of a table's terms and of events' names, with the refs of both into it.

        It shares the texts where it uses a good part of them; else it has its own, so that few matches keep little alive."""
        if (refs.size + len(names)) * _SHARED > self._live.size:
            return TextsView(self._live.snapshot(), self._fixed, self._by_id), refs.copy(), names.copy()
        each, where = one_ref_each(ids, refs)
        view, moved = self.view(np.concatenate([each, names]))
        return view, moved[: len(each)][where], moved[len(each) :]

    def forget(self) -> None:
        """Let go of all live texts: nothing refers to them any more."""
        self._live = TextArena()
        self._terms.clear()
        self.compactions += 1

    def extract(self, refs: Int64) -> tuple[bytes, Int64]:
        """The texts that refs point at as bytes, and the refs into those (fixed ones unchanged)."""
        moving = (refs >= 0) & (refs < FIXED)
        copy, moved = self._live.compact(refs[moving])
        renewed = refs.copy()
        renewed[moving] = moved
        return copy.to_bytes(), renewed

    def extract_all(self, refs: Int64) -> tuple[bytes, Int64]:
        """As `extract`, with the texts of the fixed refs too: for what is read where the background may be another."""
        fixed = refs >= FIXED
        moving = (refs >= 0) & ~fixed
        copy, moved = self._live.compact(refs[moving])
        background, places = self._fixed.compact(refs[fixed] - FIXED)
        renewed = refs.copy()
        renewed[moving] = moved
        renewed[fixed] = places + copy.add_buffer(background.buffer())
        return copy.to_bytes(), renewed

    def insert(self, data: bytes) -> int:
        """Take over texts that `extract` or `extract_all` gave; returns the base to add to their refs."""
        return self._live.add_buffer(TextArena.from_bytes(data).buffer())

    def compact(self, refs: Int64) -> Int64:
        """Keep only the live texts the refs point at; returns the refs' new values (those < 0 and fixed ones unchanged)."""
        moving = (refs >= 0) & (refs < FIXED)
        self._live, moved = self._live.compact(refs[moving])
        self._terms.clear()
        self.compactions += 1
        renewed = refs.copy()
        renewed[moving] = moved
        return renewed


def _initials(refs: Int64, live: TextArena, fixed: TextArena) -> NDArray[np.uint8]:
    found = np.zeros(len(refs), np.uint8)
    for arena, of in ((live, (refs >= 0) & (refs < FIXED)), (fixed, refs >= FIXED)):
        there = np.flatnonzero(of)
        found[there] = arena.initials(refs[there] % FIXED)
    return found


def one_ref_each(ids: UInt64, refs: Int64) -> tuple[Int64, Int64]:
    """Of a table's terms: a ref of each different one (NO_REF where it is unbound), and the table of places in these. Some rows
    of a term may have no ref, where nobody asks them for its text."""
    first, where = distinct(ids.reshape(-1, 1))
    each = refs.ravel()[first]
    if bool((each < 0).any()):
        np.maximum.at(each, where.ravel(), refs.ravel())
    return np.where(ids.ravel()[first] != 0, each, NO_REF), where.reshape(ids.shape)
