"""Matches as lines of text, whole batches at a time: each different term is spelt once, and rows are put together by Arrow.

This is for matches whose rows are what stands in their columns, bindings or graphs; those that tell more, why or of which
events, are written one by one (`io.results`), and both give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from scepter.kernel.texts import one_ref_each
from scepter.rdf.terms import Term, parse_term
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.graphs import Graphs, Spelt
from scepter.runtime.matches import Match, MatchBatch, MatchRows, MixedRows
from scepter.timeline import TimeKind, format_instant

_ROWS = 1 << 16
"""So many rows are laid out at once."""

_BYTES = 1 << 29
"""Rows whose texts are longer are laid out in two halves: Arrow's offsets end at 2 GiB, and memory somewhere."""
Batch: TypeAlias = MatchBatch | EventMatches


class _TooLong(Exception):
    """Some rows are too long to be laid out at once."""


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
    quoted: Callable[[Any], Any] = lambda spelt: spelt
    """Quotes what has to be quoted in this format."""


def in_columns(matches: Sequence[Match]) -> TypeGuard[MatchRows | MixedRows]:
    """Whether matches are what stands in their columns; what events rest on does not."""
    if isinstance(matches, MixedRows):
        return all(map(in_columns, matches.parts))
    if not isinstance(matches, MatchRows):
        return False
    batch = matches.batch
    return isinstance(batch, MatchBatch) or (isinstance(batch, EventMatches) and batch.told is None)


Lines: TypeAlias = Callable[[Batch, NDArray[np.int64], NDArray[np.int64]], Any]
"""(batch, some of its rows, their places among all matches) -> their lines, as a column."""


def laid_out(matches: MatchRows | MixedRows, lines: Lines) -> Iterator[str]:
    """The lines of matches, one behind the other, as many at a time as are laid out at once."""
    for at in range(0, len(matches), _ROWS):
        yield from _halved(matches[at : at + _ROWS], at, lines)


def _halved(some: MatchRows | MixedRows, at: int, lines: Lines) -> Iterator[str]:
    try:
        text = _text(_laid_out(some, at, lines))
    except _TooLong:
        half = len(some) // 2
        yield from _halved(some[:half], at, lines)
        yield from _halved(some[half:], at + half, lines)
    else:
        yield text


def _laid_out(some: MatchRows | MixedRows, at: int, lines: Lines) -> Any:
    if isinstance(some, MatchRows):
        return _lines_of(some, np.asarray(some.rows, np.int64), at + np.arange(len(some)), lines)
    parts, order = [], []
    for which, part in enumerate(some.parts):
        mine = np.flatnonzero(some.which == which)
        if len(mine):
            parts.append(_lines_of(part, some.place[mine], at + mine, lines))
            order.append(mine)
    places = np.empty(len(some), np.int64)
    places[np.concatenate(order)] = np.arange(len(some))
    return pa.concat_arrays(parts).take(pa.array(places))


def _lines_of(matches: MatchRows, rows: NDArray[np.int64], places: NDArray[np.int64], lines: Lines) -> Any:
    assert isinstance(matches.batch, (MatchBatch, EventMatches))
    return lines(matches.batch, rows, places)


def _check(size: int, rows: int) -> None:
    if size > _BYTES and rows > 1:
        raise _TooLong


def times(instants: Sequence[int], rows: NDArray[np.int64], kind: TimeKind, quote: str = "") -> Any:
    """Some instants as results show them; a dateTime between quotes."""
    chosen = np.asarray(instants, np.int64)[rows]
    if kind is TimeKind.INTEGER:
        return pa.array(chosen).cast(pa.string())
    different, place = np.unique(chosen, return_inverse=True)
    texts = pa.array([f"{quote}{format_instant(instant, kind)}{quote}" for instant in different.tolist()], pa.string())
    return texts.take(pa.array(place))


def terms(batch: MatchBatch, rows: NDArray[np.int64], spelling: Spelling) -> dict[str, Any]:
    """Per variable the spelt terms of some rows, null where it is unbound."""
    if not batch.names:
        return {}
    each, where = one_ref_each(batch.ids[rows], batch.refs[rows])
    bound = np.flatnonzero(each >= 0)
    place = np.full(len(each), len(bound))
    place[bound] = np.arange(len(bound))
    texts = Spelt.at(each[bound], batch.texts)
    sizes = np.append(pc.binary_length(texts.texts).to_numpy(), 0)
    _check(int(sizes[place[where]].sum()), len(rows))
    found = pa.concat_arrays([spelt(texts, spelling), pa.nulls(1, pa.string())])
    return {name: found.take(pa.array(place[where[:, column]])) for column, name in enumerate(batch.names)}


def graphs(batch: Batch, rows: NDArray[np.int64]) -> Graphs:
    """The graphs of some rows that construct."""
    return occurrences(batch, rows)[0] if isinstance(batch, EventMatches) else _checked(batch.graphs(rows), len(rows))


def occurrences(batch: EventMatches, rows: NDArray[np.int64]) -> tuple[Graphs, Any]:
    """The graphs of some rows, and the texts of their individuals."""
    found, individuals = batch.occurrences(rows)
    return _checked(found, len(rows)), individuals


def _checked(found: Graphs, rows: int) -> Graphs:
    _check(found.bytes(), rows)
    return found


def quoted(texts: Spelt) -> Any:
    """Terms in N-Triples form as JSON strings."""
    plain = each('"', pc.replace_substring(texts.texts, '"', '\\"'), '"')
    others = [json.dumps(texts.texts[i].as_py(), ensure_ascii=False) for i in np.flatnonzero(texts.unusual).tolist()]
    return pc.replace_with_mask(plain, pa.array(texts.unusual), pa.array(others, pa.string()))


def per_triple(of: Graphs, before: Any, triples: Any, behind: str, empty: Any) -> Any:
    """Per row a line for each of its triples, of a text of the row and one of the triple; where there is none, another."""
    lines = each(before.take(pa.array(of.row)), triples.take(pa.array(of.triple)), behind)
    return pc.if_else(pa.array(np.diff(of.first) == 0), each(before, empty, behind), of.rows(lines))


def each(*parts: Any) -> Any:
    """Texts put together row by row, null where one of them is."""
    return pc.binary_join_element_wise(*parts, "")


def listed(columns: Sequence[Any], between: str) -> Any:
    """The texts of each row that are there (none is empty), with something between them."""
    if not columns:
        return ""
    # not by Arrow's skipping of nulls: a row without any text would be left out
    found = filled(columns[0])
    for column in columns[1:]:
        alone = pc.or_(pc.equal(found, ""), pc.is_null(column))
        found = each(found, pc.if_else(alone, "", between), filled(column))
    return found


def filled(column: Any) -> Any:
    """A column with an empty text where it is null."""
    return pc.fill_null(column, "")


def numbered(before: str, numbers: NDArray[np.int64], behind: str) -> Any:
    """Names with numbers in them."""
    return each(before, pa.array(numbers).cast(pa.string()), behind)


def chosen(texts: Sequence[str], places: NDArray[np.int64]) -> Any:
    """Some of few texts."""
    return pa.array(texts, pa.string()).take(pa.array(places))


def equal(left: Any, right: Any) -> Any:
    """Where two columns have the same text."""
    return pc.equal(left, right)


def either(condition: Any, yes: Any, no: Any) -> Any:
    """A text where a condition holds, and another where it does not."""
    return pc.if_else(condition, yes, no)


def with_commas_quoted(texts: Any) -> Any:
    """CSV cells of texts without quotes and line ends."""
    return pc.if_else(pc.match_substring(texts, ","), each('"', texts, '"'), texts)


def joined(parts: Sequence[Any]) -> Any:
    """The parts of each line put together. A part is a column, or a text that every line has."""
    return pc.binary_join_element_wise(*parts, "")


def _text(lines: Any) -> str:
    """A column of lines, one behind the other."""
    assert lines.null_count == 0 and lines.offset == 0  # so that its bytes are the lines
    return lines.buffers()[2].to_pybytes().decode() if len(lines) else ""


def spelt(terms: Spelt, spelling: Spelling) -> Any:
    """Each term as the format spells it."""
    texts, unusual = terms.texts, pa.array(terms.unusual)
    iri, blank = pc.starts_with(texts, "<"), pc.starts_with(texts, "_:")
    typed = pc.and_not(pc.ends_with(texts, ">"), iri)
    plain = pc.invert(pc.or_(pc.or_(iri, blank), typed))
    spellers: list[tuple[Any, Callable[[Any], Any]]] = [
        (iri, lambda some: _between(spelling.iri, spelling.quoted(_inside(some, 1, 1)))),
        (blank, lambda some: _between(spelling.blank, spelling.quoted(_inside(some, 2, 0)))),
        (plain, lambda some: _between(spelling.literal, spelling.quoted(_inside(some, 1, 1)))),
        (typed, lambda some: _typed(some, spelling)),
    ]
    order, parts = [], []
    for kind, spell in spellers:
        usual = pc.and_not(kind, unusual)
        order.append(np.flatnonzero(usual.to_numpy(zero_copy_only=False)))
        parts.append(spell(texts.filter(usual)))
    order.append(np.flatnonzero(unusual.to_numpy(zero_copy_only=False)))
    parts.append(pa.array([spelling.unusual(parse_term(texts[i].as_py())) for i in order[-1].tolist()], pa.string()))
    places = np.empty(len(texts), np.int64)
    places[np.concatenate(order)] = np.arange(len(texts))
    return pa.concat_arrays(parts).take(pa.array(places))


def _between(around: tuple[str, str], texts: Any) -> Any:
    return pc.binary_join_element_wise(around[0], texts, around[1], "")


def _inside(texts: Any, first: int, last: int) -> Any:
    """Texts without some of their first and last characters."""
    return pc.utf8_slice_codeunits(texts, first, -last if last else None)


def _typed(texts: Any, spelling: Spelling) -> Any:
    parts = pc.extract_regex(texts, r'^"(?P<lexical>[^"]*)"\^\^<(?P<datatype>[^>]*)>$')
    lexical, datatype = parts.field("lexical"), parts.field("datatype")
    if spelling.typed is None:
        return _between(spelling.literal, spelling.quoted(lexical))
    before, between, behind = spelling.typed
    return pc.binary_join_element_wise(before, lexical, between, datatype, behind, "")
