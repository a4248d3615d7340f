"""The graphs of matches in columns: each different term is spelt once, and each different triple is put together once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from scepter.kernel.rows import Int64
from scepter.kernel.texts import TextsView
from scepter.rdf.arena import gather
from scepter.rdf.distinct import distinct
from scepter.rdf.terms import STRING, Term, Triple, parse_term

_UNUSUAL: Final = r'\\|[\x00-\x1f\x7f]|"@|^<<|"\^\^<' + STRING.replace(".", r"\.") + ">$"
"""Texts that are not spelt as they are shown: escapes, control characters, languages, triple terms, xsd:string said aloud."""
_BLOCK: Final = 1 << 10
"""So many rows are put together when somebody looks at one of them."""


class Spelt(NamedTuple):
    """Terms in N-Triples form, as `str` writes them."""

    texts: Any
    """Their texts, a column."""
    unusual: NDArray[np.bool_]
    """Those that other formats have to parse: escapes and languages."""

    @classmethod
    def of(cls, texts: Any) -> Spelt:
        """From a column of texts that may be spelt in another way."""
        unusual = pc.match_substring_regex(texts, _UNUSUAL).to_numpy(zero_copy_only=False)
        others = np.flatnonzero(unusual)
        if len(others):
            shown = pa.array([str(parse_term(texts[i].as_py())) for i in others.tolist()], pa.string())
            texts = pc.replace_with_mask(texts, pa.array(unusual), shown)
        return cls(texts, unusual)

    @classmethod
    def at(cls, refs: Int64, view: TextsView) -> Spelt:
        """The terms at some refs."""
        buffer, places = view.texts(refs)
        starts, data = gather(buffer, places)
        return cls.of(pa.LargeStringArray.from_buffers(len(refs), pa.py_buffer(starts), pa.py_buffer(data)).cast(pa.string()))

    @classmethod
    def together(cls, parts: Sequence[Spelt]) -> Spelt:
        """Some terms behind others."""
        return cls(pa.concat_arrays([part.texts for part in parts]), np.concatenate([part.unusual for part in parts]))


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
        rank = pc.rank(spelt.texts, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
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

    def triples(self, terms: Any, before: str, between: str, behind: str) -> Any:
        """A text for each different triple, from one for each term."""
        subject, predicate, object = (terms.take(pa.array(self.terms[:, position])) for position in range(3))
        return pc.binary_join_element_wise(before, subject, between, predicate, between, object, behind, "")

    def joined(self, triples: Any, between: str = "") -> Any:
        """A text for each row, from one for each different triple."""
        last = np.zeros(len(self.triple), np.int64)
        last[self.first[1:][np.diff(self.first) > 0] - 1] = len(triples)
        both = pa.concat_arrays([pc.binary_join_element_wise(triples, between, ""), triples])
        return self.rows(both.take(pa.array(self.triple + last)))

    def rows(self, texts: Any) -> Any:
        """The texts of each row's triples, which stand in turn, put together: they stand side by side, so that their bytes are
        the row's."""
        starts = np.frombuffer(texts.buffers()[1], np.int32)[: len(texts) + 1] if len(texts) else np.zeros(1, np.int32)
        return pa.StringArray.from_buffers(len(self.first) - 1, pa.py_buffer(starts[self.first]), texts.buffers()[2])

    def padded(self) -> Int64:
        """[place, row]: the triples by number, which are in the order of their texts; -1 where a graph is over."""
        counts = np.diff(self.first)
        found = np.full((int(counts.max(initial=0)), len(counts)), -1, np.int64)
        row = self.row
        found[np.arange(len(row)) - self.first[row], row] = self.triple
        return found

    def lines(self) -> Any:
        """The triples of each row in N-Triples form with a line end between them."""
        return self.joined(self.triples(self.spelt.texts, "", " ", ""), "\n")

    def bytes(self) -> int:
        """How long all graphs are in N-Triples form, without what stands between terms."""
        sizes = pc.binary_length(self.spelt.texts).to_numpy().astype(np.int64)
        return int(sizes[self.terms].sum(axis=1)[self.triple].sum())


class _Block(NamedTuple):
    """Some rows that somebody has looked at."""

    graphs: Graphs
    individuals: Any
    known: dict[int, Term]
    """Terms that were parsed, by place."""

    def term(self, place: int) -> Term:
        found = self.known.get(place)
        if found is None:
            found = self.known[place] = parse_term(self.graphs.spelt.texts[place].as_py())
        return found


class ShownGraphs:
    """Graphs as terms, made some rows at a time when somebody looks at one of them."""

    __slots__ = ("_blocks", "_make", "_rows")

    def __init__(self, rows: int, make: Callable[[Int64], tuple[Graphs, Any]]) -> None:
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
        return parse_term(block.individuals[at].as_py())


def digests(texts: Any, size: int) -> list[str]:
    """A hash of so many bytes of each text, in hexadecimal."""
    if not len(texts):
        return []
    starts, data = np.frombuffer(texts.buffers()[1], np.int32)[: len(texts) + 1], memoryview(texts.buffers()[2])
    assert texts.offset == 0  # so that its buffers begin with it
    return [hashlib.blake2b(data[low:high], digest_size=size).hexdigest() for low, high in pairwise(starts.tolist())]
