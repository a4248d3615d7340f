"""The answer of a query's pattern: row by row where event mappings do not depend on each other, else as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import Extend, Filter, Graph, Join, LeftJoin, Match, Minus, OrderBy, Pattern, Project
from scepter.algebra.walk import find
from scepter.algebra.windows import hidden_names, is_window_graph
from scepter.kernel.sparql.context import Context, Row
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.windowed.answers import AnswerRow
from scepter.kernel.windowed.items import EventMapping
from scepter.rdf.terms import XSD, Literal, Term

_INTEGER = XSD + "integer"
_Surroundings: TypeAlias = Callable[[], Context]
"""The context of an evaluation, made when it is needed."""
_RowsOf: TypeAlias = Callable[[list[EventMapping], _Surroundings], Iterable[AnswerRow]]
_Change: TypeAlias = tuple[list[AnswerRow], list[AnswerRow]]


def is_linear(pattern: Pattern) -> bool:
    """Whether the rows of several event mappings are those of each on its own: then only what changed is looked at.

    It is so when one Match feeds joins with what stays the same, filters, BINDs and projections.
    """
    windows = any(isinstance(graph.name, Constant) and is_window_graph(graph.name.term) for graph in find(pattern, Graph))
    return not windows and len(list(find(pattern, Match))) == 1 and _reaches_match(pattern)


def _reaches_match(pattern: Pattern) -> bool:
    match pattern:
        case Match():
            return True
        case Join(left, right):
            return _reaches_match(left) or _reaches_match(right)
        case LeftJoin(left) | Minus(left):
            return _reaches_match(left)
        case Filter() | Extend() | Project() | OrderBy():
            return _reaches_match(pattern.pattern)
        case _:
            return False


class Linear:
    """An answer made of the rows of each event mapping of one Match."""

    def __init__(self, pattern: Pattern, variables: Sequence[str], keep_sources: bool) -> None:
        self._rows_of = _projection(pattern, variables) or _planned(pattern, variables)
        self._keep_sources = keep_sources
        self._rows: dict[EventMapping, list[AnswerRow]] = {}

    def change(self, added: list[EventMapping], removed: list[EventMapping], context: _Surroundings) -> _Change:
        """The rows that came and went with some event mappings."""
        gone = [row for mapping in removed for row in self._rows.pop(mapping, ())]
        came = list(self._rows_of(added, context)) if added else []
        if self._keep_sources:
            came = [row.with_sources() for row in came]
        for row in came:
            self._rows.setdefault(row.mappings[0], []).append(row)
        return came, gone

    def rows(self) -> list[AnswerRow]:
        """The whole answer."""
        return [row for rows in self._rows.values() for row in rows]

    def __len__(self) -> int:
        return len(self._rows)


def _projection(pattern: Pattern, variables: Sequence[str]) -> _RowsOf | None:
    """The rows of a bare SELECT of a MATCH, without the general evaluator."""
    if not isinstance(pattern, Project) or not isinstance(pattern.pattern, Match):
        return None
    places = [(v.name, variables.index(v.name)) for v in pattern.variables if v.name in variables]

    def rows(mappings: list[EventMapping], context: _Surroundings) -> Iterable[AnswerRow]:
        for mapping in mappings:
            values = mapping.values
            bindings = {name: term for name, i in places if (term := values[i]) is not None}
            yield AnswerRow(bindings, (mapping.start, mapping.end), (mapping,))

    return rows


def _planned(pattern: Pattern, variables: Sequence[str]) -> _RowsOf:
    plan, hidden = compile_pattern(pattern), _Hidden(1)

    def rows(mappings: list[EventMapping], context: _Surroundings) -> Iterable[AnswerRow]:
        given = replace(context(), mappings=[hidden.rows(0, mappings, variables)])
        return (hidden.answer(row, [mappings]) for row in plan(given))

    return rows


class Whole:
    """An answer evaluated as a whole at each change."""

    def __init__(self, pattern: Pattern, variables: Sequence[Sequence[str]], keep_sources: bool) -> None:
        self._plan = compile_pattern(pattern)
        self._variables = variables
        self._hidden = _Hidden(len(variables))
        self._keep_sources = keep_sources
        self._rows: list[AnswerRow] = []

    def change(self, mappings: Sequence[list[EventMapping]], context: _Surroundings) -> _Change:
        """The rows now and the rows before."""
        given = [list(self._hidden.rows(i, each, self._variables[i])) for i, each in enumerate(mappings)]
        solutions = self._plan(replace(context(), mappings=given))
        before, self._rows = self._rows, [self._hidden.answer(row, mappings) for row in solutions]
        if self._keep_sources:
            self._rows = [row.with_sources() for row in self._rows]
        return self._rows, before

    def rows(self) -> list[AnswerRow]:
        """The whole answer."""
        return self._rows

    def __len__(self) -> int:
        return len(self._rows)


class _Hidden:
    """The hidden variables of a pattern's Matches, which say of each row which event mappings are behind it."""

    def __init__(self, matches: int) -> None:
        self._names = [hidden_names(number) for number in range(matches)]

    def rows(self, match: int, mappings: Sequence[EventMapping], variables: Sequence[str]) -> Iterable[Row]:
        """Event mappings as the rows of a Match."""
        which, start, end = self._names[match]
        for number, mapping in enumerate(mappings):
            row: Row = {name: term for name, term in zip(variables, mapping.values, strict=True) if term is not None}
            row[which] = Literal(str(number), _INTEGER)
            row[start] = Literal(str(mapping.start), _INTEGER)
            row[end] = Literal(str(mapping.end), _INTEGER)
            yield row

    def answer(self, solution: Row, mappings: Sequence[Sequence[EventMapping]]) -> AnswerRow:
        """A solution as a row of the answer; `mappings` are what the numbers of each Match mean."""
        starts: list[int] = []
        ends: list[int] = []
        behind: list[EventMapping] = []
        for match, (which, start, end) in enumerate(self._names):
            if start in solution and end in solution:
                starts.append(int(_lexical(solution[start])))
                ends.append(int(_lexical(solution[end])))
            if which in solution:
                behind += [mappings[match][int(number)] for number in _lexical(solution[which]).split()]
        visible = {name: term for name, term in solution.items() if not name.startswith("_:")}
        return AnswerRow(visible, (min(starts), max(ends)) if starts else None, tuple(behind))


def _lexical(term: Term) -> str:
    assert isinstance(term, Literal)  # by `rows`, and by the aggregates over it
    return term.lexical
