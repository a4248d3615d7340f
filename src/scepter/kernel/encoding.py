"""Terms into columns and back: for operators that compute new terms, or must look at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.rows import Float64, Int8, Int64, Rows, UInt64, mappings
from scepter.kernel.texts import Texts
from scepter.rdf.batch import INEXACT, NOT_A_NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term


def encoded(terms: Sequence[Term | None], key: TermKey, texts: Texts) -> tuple[UInt64, Int64, Float64, Int8]:
    """One column of terms; None is unbound. Equal terms share a text.

    >>> from scepter.rdf.terms import IRI
    >>> ids, refs, _, _ = encoded([IRI("http://e"), None, IRI("http://e")], TermKey.fixed(), Texts())
    >>> bool(ids[0] == ids[2]), int(ids[1]), refs.tolist()
    (True, 0, [0, -1, 0])
    """
    different = [term for term in dict.fromkeys(terms) if term is not None]
    written = texts.append([str(term) for term in different]) if different else np.empty(0, np.int64)
    places = {term: i for i, term in enumerate(different)}
    known = texts.read(written, key)
    ids, refs, number, scale = mappings(len(terms), 1)
    bound = np.array([row for row, term in enumerate(terms) if term is not None], np.int64)
    place = np.array([places[term] for term in terms if term is not None], np.int64)
    ids[bound, 0], refs[bound, 0] = known.ids[place], written[place]
    number[bound, 0], scale[bound, 0] = known.number[place], known.scale[place]
    return ids[:, 0], refs[:, 0], number[:, 0], scale[:, 0]


def encoded_numbers(written: Sequence[str | None], key: TermKey, texts: Texts) -> tuple[UInt64, Int64, Float64, Int8]:
    """One column of numbers in canonical form, as N-Triples texts; None is unbound. Digits decide how exact they are.

    >>> made = encoded_numbers(['"2.5"^^<http://www.w3.org/2001/XMLSchema#decimal>', None], TermKey.fixed(), Texts())
    >>> made[2].tolist(), made[3].tolist()
    ([2.5, nan], [1, -1])
    """
    ids, refs, number, scale = mappings(len(written), 1)
    bound = np.array([row for row, text in enumerate(written) if text is not None], np.int64)
    refs[bound, 0] = texts.append([text for text in written if text is not None])
    known = texts.read(refs[bound, 0], key, numbers=False)
    ids[bound, 0], number[bound, 0], scale[bound, 0] = known.ids, known.number, known.scale
    for row in np.flatnonzero((ids[:, 0] != 0) & (scale[:, 0] == NOT_A_NUMBER)).tolist():
        # more digits than float64 carries: its value is near, and the text decides
        number[row, 0], scale[row, 0] = float(str(written[row]).split('"')[1].replace("INF", "inf")), INEXACT
    return ids[:, 0], refs[:, 0], number[:, 0], scale[:, 0]


def decoded(rows: Rows, names: Sequence[str], row: int, texts: Texts) -> dict[str, Term]:
    """The mapping of one row, as terms."""
    bound = zip(names, rows.ids[row].tolist(), rows.refs[row].tolist(), strict=True)
    return {name: texts.known(ref, id) for name, id, ref in bound if id}
