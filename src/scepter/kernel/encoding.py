"""Terms into columns and back: for operators that compute new terms, or must look at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scepter.kernel.rows import Mappings, Rows, mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term


def encoded(terms: Sequence[Term | None], key: TermKey, texts: Texts) -> Mappings:
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
    column = mappings(len(terms), 1)
    bound = np.array([row for row, term in enumerate(terms) if term is not None], np.int64)
    place = np.array([places[term] for term in terms if term is not None], np.int64)
    column.put(0, Mappings(known.ids, written, known.number, known.scale).take(place), bound)
    return column.column(0)


def encoded_rows(rows: Sequence[Sequence[Term | None]], width: int, key: TermKey, texts: Texts) -> Mappings:
    """Mappings of so many variables."""
    found = mappings(len(rows), width)
    for column in range(width):
        found.put(column, encoded([row[column] for row in rows], key, texts))
    return found


def decoded(rows: Rows, names: Sequence[str], row: int, texts: Texts) -> dict[str, Term]:
    """The mapping of one row, as terms."""
    bound = zip(names, rows.ids[row].tolist(), rows.refs[row].tolist(), strict=True)
    return {name: texts.known(ref, id) for name, id, ref in bound if id}
