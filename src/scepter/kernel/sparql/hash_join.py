"""Join, LeftJoin and Minus of rows that may leave variables unbound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from scepter.algebra.patterns import Pattern
from scepter.algebra.scope import certain, in_scope
from scepter.kernel.sparql.context import Bindings, Row
from scepter.rdf.terms import Term

_Key: TypeAlias = tuple[Term, ...]
Partners: TypeAlias = Callable[[Row], Iterator[Row]]
"""The rows of the other side that are compatible with a row."""


class HashJoin:
    """How the rows of two patterns find each other: by the shared variables that both sides always bind, and among those
    by comparing the shared variables that may be unbound."""

    __slots__ = ("_keys", "_loose")

    def __init__(self, left: Pattern, right: Pattern) -> None:
        shared = in_scope(left) & in_scope(right)
        sure = certain(left) & certain(right) & shared
        self._keys = tuple(sorted(sure))
        self._loose = tuple(sorted(shared - sure))

    def table(self, rows: Iterable[Row]) -> Partners:
        """The rows of one side, ready to be looked up by rows of the other."""
        buckets: dict[_Key, list[Row]] = {}
        for row in rows:
            buckets.setdefault(self._key(row), []).append(row)

        def partners(row: Row) -> Iterator[Row]:
            return (other for other in buckets.get(self._key(row), ()) if self._agree(row, other))

        return partners

    def _key(self, row: Row) -> _Key:
        return tuple([row[name] for name in self._keys])

    def _agree(self, row: Row, other: Row) -> bool:
        return not any(name in row and name in other and row[name] != other[name] for name in self._loose)


def disjoint(row: Row, other: Row, substituted: Bindings) -> bool:
    """Whether two rows share no variable; inside EXISTS a substituted variable is a term and shared by nobody."""
    return all(name not in other or name in substituted for name in row)
