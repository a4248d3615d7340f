"""What a generated dataset is: streams of events of one shape each, and the static files that go with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from scepter.errors import option_error
from scepter.generate.draws import Draws, Indices
from scepter.rdf.terms import XSD

Field: TypeAlias = str | list[str]
"""A term in N-Triples form: the same in every event of a block, or one per event."""
Shape: TypeAlias = tuple[tuple[Field, Field, Field], ...]
"""The triples of every event of a block."""

FormatName: TypeAlias = Literal["nquads", "trig", "jsonld", "ntriples"]
TimeName: TypeAlias = Literal["integer", "datetime"]


class Choices(TypedDict, total=False):
    """The keyword arguments of `write` and `events`; see `Settings`."""

    events: int
    seed: int
    format: FormatName
    times: TimeName
    disorder: int
    interval: int | None
    keys: int | None
    triples_per_event: int
    compress: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be chosen about a dataset."""

    events: int = 10_000
    """How many events, over all streams."""
    seed: int = 0
    format: FormatName = "nquads"
    times: TimeName = "integer"
    """Milliseconds from 0, or xsd:dateTime from the start of 2026."""
    disorder: int = 0
    """An event arrives at most so many milliseconds after a later one."""
    interval: int | None = None
    """Milliseconds from one instant to the next; None: as usual for the dataset."""
    keys: int | None = None
    """How many companies, cards, houses, …; None: as usual for the dataset."""
    triples_per_event: int = 3
    """Of `stocks`: 1 to 7."""
    compress: bool = False
    """Gzip the stream files."""

    def __post_init__(self) -> None:
        for name, least in (("events", 0), ("disorder", 0), ("interval", 1), ("keys", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise option_error("generate-option", f"{name} is {value}, and must be {least} or more")


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """One stream. `shape(index, draws)` gives the triples of the events with these numbers in the stream; it is called on
    successive blocks, each once, because walks go on from one block to the next."""

    name: str
    iri: str
    shape: Callable[[Indices], Shape]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset about to be generated."""

    streams: tuple[StreamPlan, ...]
    interval: int
    """Milliseconds from one instant to the next."""
    turns: tuple[int, ...] = (0,)
    """Whose turn it is: the streams of successive events, over and over."""
    together: int = 1
    """How many successive events happen at one instant."""
    background: Mapping[str, str] = field(default_factory=dict)
    """Turtle per named graph; the default graph is ""."""
    ontology: str | None = None
    queries: Mapping[str, str] = field(default_factory=dict)
    """Example queries by file name."""


Plan: TypeAlias = Callable[[Settings, Draws], Dataset]


def chosen(value: int | None, usual: int) -> int:
    """A setting, or what is usual."""
    return usual if value is None else value


def integers(values: Indices) -> list[str]:
    """Integers as xsd:integer literals."""
    return [f'"{value}"^^<{XSD}integer>' for value in values.tolist()]


def hundredths(values: Indices) -> list[str]:
    """Integers as xsd:decimal literals of a hundredth of their value, with two digits after the point."""
    return [f'"{value // 100}.{value % 100:02d}"^^<{XSD}decimal>' for value in values.tolist()]


def numbered(prefix: str, values: Indices) -> list[str]:
    """IRIs: the prefix and a number."""
    return [f"<{prefix}{value}>" for value in values.tolist()]


def picked(texts: list[str], values: Indices) -> list[str]:
    """The texts at these places."""
    return [texts[value] for value in values.tolist()]


def either(condition: NDArray[np.bool_], yes: str, no: str) -> list[str]:
    """One text where the condition holds, another where it does not."""
    return [yes if true else no for true in condition.tolist()]
