"""The graphs of matches in columns: each different term is spelt once, and each different triple is put together once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from scepter.kernel.rows import Int64
from scepter.kernel.texts import TextsView
from scepter.rdf.arena import gather
from scepter.rdf.distinct import distinct
from scepter.rdf.lines import Column, either, grouped, joined, own
from scepter.rdf.packed import Packed
from scepter.rdf.terms import Term, Triple, parse_term

_BLOCK: Final = 1 << 10
"""So many rows are put together when somebody looks at one of them."""


class Spelt(NamedTuple):
    """Terms in N-Triples form, as `str` writes them."""

    texts: Packed
    unusual: NDArray[np.bool_]
    """Those that other formats have to parse: escapes and languages."""

    @classmethod
    def of(cls, texts: Packed) -> Spelt:
        """From texts that may be spelt in another way."""
        unusual = texts.unusual()
        if unusual.any():
            shown = Packed.of([str(parse_term(texts.text(at))) for at in np.flatnonzero(unusual).tolist()])
            texts = joined([either(unusual, Column(shown, np.cumsum(unusual) - 1), own(texts))], len(texts)).texts
        return cls(texts, unusual)

    @classmethod
    def at(cls, refs: Int64, view: TextsView) -> Spelt:
        """The terms at some refs."""
        return cls.of(gather(*view.texts(refs)))

    @classmethod
    def together(cls, parts: Sequence[Spelt]) -> Spelt:
        """Some terms behind others."""
        return cls(Packed.together([part.texts for part in parts]), np.concatenate([part.unusual for part in parts]))


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs of some rows, the triples of each in the order of their texts, each once."""

    first: Int64
    """Per row, plus one: where its triples begin."""
    triple: Int64
    """Of each triple in turn, which of the different ones it is."""
    terms: Int64
    """[different triple, position]: which of the terms."""
    spelt: Spelt

    @classmethod
    def of(cls, rows: int, row: Int64, terms: Int64, spelt: Spelt) -> Graphs:
        """Of triples in any order, with the row that each belongs to and its terms; equal terms may be spelt more than once."""
        starts, data = map(pa.py_buffer, spelt.texts)
        texts = pa.LargeStringArray.from_buffers(len(spelt.texts), starts, data)
        rank = pc.rank(texts, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
        ranks = np.ascontiguousarray(rank[terms])
        once, where = distinct(ranks)
        order = np.lexsort(ranks[once].T[::-1])
        place = np.empty(len(once), np.int64)
        place[order] = np.arange(len(once))
        keys = row * max(len(once), 1) + place[where]
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) != 0]
        bounds = np.arange(rows + 1) * max(len(once), 1)
        return cls(np.searchsorted(keys, bounds), keys % max(len(once), 1), terms[once[order]], spelt)

    @property
    def row(self) -> Int64:
        """Of each triple in turn, its row."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def triples(self, terms: Packed, before: str, between: str, behind: str) -> Packed:
        """A text for each different triple, from one for each term."""
        subject, predicate, object = (Column(terms, self.terms[:, position]) for position in range(3))
        return joined([before, subject, between, predicate, between, object, behind], len(self.terms)).texts

    def joined(self, triples: Packed, between: str = "") -> Column:
        """A text for each row, from one for each different triple."""
        first = np.zeros(len(self.triple), np.int64)
        first[self.first[:-1][np.diff(self.first) > 0]] = -1
        return grouped([Column.of([between], first), Column(triples, self.triple)], self.first)

    def padded(self) -> Int64:
        """[place, row]: the triples by number, which are in the order of their texts; -1 where a graph is over."""
        counts = np.diff(self.first)
        found = np.full((int(counts.max(initial=0)), len(counts)), -1, np.int64)
        row = self.row
        found[np.arange(len(row)) - self.first[row], row] = self.triple
        return found

    def lines(self) -> Column:
        """The triples of each row in N-Triples form with a line end between them."""
        return self.joined(self.triples(self.spelt.texts, "", " ", ""), "\n")

    def bytes(self) -> int:
        """How long all graphs are in N-Triples form, without what stands between terms."""
        sizes = np.diff(self.spelt.texts.starts)
        return int(sizes[self.terms].sum(axis=1)[self.triple].sum())


class _Block(NamedTuple):
    """Some rows that somebody has looked at."""

    graphs: Graphs
    individuals: Packed | None
    known: dict[int, Term]
    """Terms that were parsed, by place."""

    def term(self, place: int) -> Term:
        found = self.known.get(place)
        if found is None:
            found = self.known[place] = parse_term(self.graphs.spelt.texts.text(place))
        return found


class ShownGraphs:
    """Graphs as terms, made some rows at a time when somebody looks at one of them."""

    __slots__ = ("_blocks", "_make", "_rows")

    def __init__(self, rows: int, make: Callable[[Int64], tuple[Graphs, Packed | None]]) -> None:
        """`make` gives the graphs of some rows, and the texts of the individuals where they are occurrences."""
        self._rows, self._make = rows, make
        self._blocks: dict[int, _Block] = {}

    def _of(self, row: int) -> tuple[_Block, int]:
        number, at = divmod(row, _BLOCK)
        block = self._blocks.get(number)
        if block is None:
            low = number * _BLOCK
            made = self._make(np.arange(low, min(low + _BLOCK, self._rows)))
            block = self._blocks[number] = _Block(*made, {})
        return block, at

    def graph(self, row: int) -> tuple[Triple, ...]:
        """The triples of a row, in order."""
        block, at = self._of(row)
        graphs = block.graphs
        triples = graphs.terms[graphs.triple[graphs.first[at] : graphs.first[at + 1]]].tolist()
        return tuple(starmap(Triple, (map(block.term, places) for places in triples)))

    def individual(self, row: int) -> Term:
        """What a row is an occurrence of."""
        block, at = self._of(row)
        assert block.individuals is not None
        return parse_term(block.individuals.text(at))


def digests(texts: Packed, size: int) -> list[str]:
    """A hash of so many bytes of each text, in hexadecimal."""
    data = texts.data.data
    return [hashlib.blake2b(data[low:high], digest_size=size).hexdigest() for low, high in pairwise(texts.starts.tolist())]
