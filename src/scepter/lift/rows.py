"""The rows that a mapping reads: fields by reference, and where each row stands, for dead letters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from scepter.lift.columns import Column, Distinct, arrow_column, distinct_column, empty_column, value_column
from scepter.lift.paths import Path, parse_path


class Rows(Protocol):
    """Some rows of a source."""

    @property
    def count(self) -> int:
        """How many there are."""

    def column(self, reference: str) -> Column:
        """The values of a field."""

    def distinct(self, reference: str, before: Distinct | None) -> Distinct | None:
        """The values of a field each once, those of the block before if they are the same; None where they hardly repeat, or
        nobody knows."""

    def typed(self, reference: str) -> pa.Array | None:
        """The field as the table has it; None where it has no types."""

    def line(self, row: int) -> int | None:
        """Where a row stands in its file."""

    def text(self, row: int) -> str:
        """A row as a person would look for it."""

    @property
    def faults(self) -> Mapping[int, str]:
        """What is wrong with rows whose fields are no values, as far as columns were asked for."""


@dataclass(slots=True)
class TableRows:
    """Rows of an Arrow table. `lines` tells where a row stands."""

    table: pa.Table
    lines: Callable[[int], int | None] = lambda row: row + 1
    faults: dict[int, str] = field(default_factory=dict)
    """None: the types of a table's columns are known before its rows."""
    _columns: dict[str, Column] = field(default_factory=dict)
    _distinct: dict[str, Distinct | None] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.table.num_rows)

    def column(self, reference: str) -> Column:
        """The values of a field; a path leads into structs."""
        found = self._columns.get(reference)
        if found is None:
            array = self._array(reference)
            found = self._columns[reference] = empty_column(self.count) if array is None else arrow_column(array)
        return found

    def _array(self, reference: str) -> pa.Array | None:
        if reference in self.table.column_names:
            return _single(self.table.column(reference))
        head, _, rest = reference.removeprefix("$.").partition(".")
        if head not in self.table.column_names:
            return None
        array = _single(self.table.column(head))
        for name in filter(None, rest.split(".")):
            if not pa.types.is_struct(array.type) or array.type.get_field_index(name) < 0:
                return None
            array = _within(array, name)
        return array

    def distinct(self, reference: str, before: Distinct | None) -> Distinct | None:
        """The values of a column each once, where they repeat."""
        if reference not in self._distinct:
            there = reference in self.table.column_names
            self._distinct[reference] = distinct_column(_whole(self.table.column(reference)), before) if there else None
        return self._distinct[reference]

    def typed(self, reference: str) -> pa.Array | None:
        """The field as the table has it; None for lists."""
        array = self._array(reference)
        return None if array is None or pa.types.is_nested(array.type) else array

    def line(self, row: int) -> int | None:
        """Where a row stands in its file."""
        return self.lines(row)

    def text(self, row: int) -> str:
        """The fields that were read, as JSON would show them."""
        values = {name: _shown(self.table.column(name)[row]) for name in self.table.column_names}
        return ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)


def _shown(value: pa.Scalar) -> object:
    """A value for messages; Python has no dates beyond the year 9999."""
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.cast(pa.string()).as_py()


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _single(column: pa.ChunkedArray) -> pa.Array:
    found = _whole(column)
    return found.dictionary_decode() if pa.types.is_dictionary(found.type) else found


def _within(array: pa.StructArray, name: str) -> pa.Array:
    """A field of structs; where the struct is null, so is the field."""
    import pyarrow.compute as pc

    return pc.struct_field(array, name)


def _no_value(value: object) -> str | None:
    """What something is that is no value; None of a value, and of none."""
    if value is None or isinstance(value, (str, int, float)) or type(value).__name__ == "NAType":  # pandas', if it is there
        return None
    if isinstance(value, list):
        return next(filter(None, map(_no_value, value)), None)
    if isinstance(value, dict):
        return "an object where the mapping wants a value"
    return None if isinstance(value, (date, Decimal, bytes, np.generic)) else f"a {type(value).__name__}, which is no value"


@dataclass(slots=True)
class DocumentRows:
    """Items of JSON documents."""

    items: Sequence[Any]
    lines: Sequence[int | None]
    faults: dict[int, str] = field(default_factory=dict)
    _paths: dict[str, Path] = field(default_factory=dict)
    _columns: dict[str, Column] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.items)

    def column(self, reference: str) -> Column:
        """The values that a path leads to in each item."""
        found = self._columns.get(reference)
        if found is None:
            path = parse_path(reference)
            values = [path.value(item) for item in self.items]
            for row, value in enumerate(values):
                if (fault := _no_value(value)) is not None:
                    self.faults.setdefault(row, f"{reference} is {fault}")
            found = self._columns[reference] = value_column(values)
        return found

    def distinct(self, reference: str, before: Distinct | None) -> Distinct | None:
        """Nobody has looked."""
        return None

    def typed(self, reference: str) -> pa.Array | None:
        """Documents have no types."""
        return None

    def line(self, row: int) -> int | None:
        """The line that the document begins on."""
        return self.lines[row]

    def strange(self, row: int, fields: Sequence[str], others: Sequence[str]) -> list[str]:
        """The names in an item that lead to no field, if none leads to one of `fields`: else none."""
        item = self.items[row]
        if not isinstance(item, dict) or any(self._head(name) in item for name in fields):
            return []
        known = {self._head(name) for name in others}
        return [name for name in item if isinstance(name, str) and name not in known]

    def _head(self, reference: str) -> object:
        path = parse_path(reference)
        return path.steps[0] if path.steps else None

    def text(self, row: int) -> str:
        """The item as JSON."""
        item = self.items[row]
        try:
            return json.dumps(item, ensure_ascii=False, default=str)
        except (TypeError, ValueError):  # a dictionary at hand may have keys, or itself, within
            return str(item)
