"""From a dataset's plan to events in the order in which they arrive."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from scepter.errors import nearest, option_error
from scepter.generate import cards, offers, rooms, smartgrid, social, stocks, traffic, vessels
from scepter.generate.draws import Draws
from scepter.generate.model import Dataset, Field, Plan, Settings, chosen
from scepter.generate.render import FORMATS, Block, time_literals
from scepter.rdf.terms import Term, Triple, parse_term

DATASETS: Mapping[str, Plan] = {
    "stocks": stocks.plan,
    "cards": cards.plan,
    "smartgrid": smartgrid.plan,
    "traffic": traffic.plan,
    "offers": offers.plan,
    "rooms": rooms.plan,
    "social": social.plan,
    "vessels": vessels.plan,
}
BLOCK = 16_384

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GeneratedEvent:
    """An event in memory; times in milliseconds."""

    stream: str
    name: str
    start: int
    end: int
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class _Arriving(Generic[T]):
    arrival: list[int]
    payload: list[T]
    reached: int
    """The greatest time of the events so far."""


def planned(name: str, settings: Settings) -> Dataset:
    """The plan of a dataset; an OptionError when there is no such dataset."""
    if name not in DATASETS:
        near = nearest(name, DATASETS)
        raise option_error(
            "unknown-dataset",
            f"there is no dataset {name!r}" + (f"; did you mean {near}?" if near else ""),
            help=f"the datasets are {', '.join(DATASETS)}",
        )
    return DATASETS[name](settings, Draws(settings.seed))


def texts(dataset: Dataset, number: int, settings: Settings) -> Iterator[list[str]]:
    """The text of a stream's events, in lists, in order of arrival."""

    def rendered(block: Block) -> list[str]:
        return FORMATS[settings.format].render(block, time_literals(block.times, settings.times))

    return (part.payload for part in _arriving(dataset, number, settings, rendered))


def events(dataset: Dataset, settings: Settings) -> Iterator[GeneratedEvent]:
    """The events of all streams together, in order of arrival."""
    numbers = range(len(dataset.streams))
    merged = heapq.merge(*(_stamped(dataset, number, settings) for number in numbers), key=lambda stamped: stamped[0])
    return (event for _, event in merged)


def _stamped(dataset: Dataset, number: int, settings: Settings) -> Iterator[tuple[int, GeneratedEvent]]:
    def in_memory(block: Block) -> list[GeneratedEvent]:
        return _in_memory(dataset.streams[number].iri, block)

    for part in _arriving(dataset, number, settings, in_memory):
        yield from zip(part.arrival, part.payload, strict=True)


def _arriving(dataset: Dataset, number: int, settings: Settings, payload: Callable[[Block], list[T]]) -> Iterator[_Arriving[T]]:
    blocks = _blocks(dataset, number, settings)
    column = f"delay/{dataset.streams[number].name}"
    return _in_order_of_arrival(
        _Arriving(_arrival(column, settings, block), payload(block), int(block.times[-1])) for block in blocks
    )


def _blocks(dataset: Dataset, number: int, settings: Settings) -> Iterator[Block]:
    plan = dataset.streams[number]
    places = np.flatnonzero(np.array(dataset.turns) == number)
    cycle, each = len(dataset.turns), len(places)
    rounds, rest = divmod(settings.events, cycle)
    total = rounds * each + int(np.count_nonzero(places < rest))
    interval = chosen(settings.interval, dataset.interval)
    for first in range(0, total, BLOCK):
        index = np.arange(first, min(first + BLOCK, total), dtype=np.int64)
        overall = (index // each) * cycle + places[index % each]
        names = [f"<{plan.iri}/e{event + 1}>" for event in index.tolist()]
        yield Block(index, names, (overall // dataset.together) * interval, plan.shape(index))


def _arrival(column: str, settings: Settings, block: Block) -> list[int]:
    """When each event arrives: at its time, or up to `disorder` after it. Of two events that arrive in the wrong order the
    times are then at most `disorder` apart."""
    delay = Draws(settings.seed).integers(column, block.index, 0, settings.disorder)
    arrival: list[int] = (block.times + delay).tolist()
    return arrival


def _in_order_of_arrival(parts: Iterator[_Arriving[T]]) -> Iterator[_Arriving[T]]:
    waiting: _Arriving[T] = _Arriving([], [], 0)
    for part in parts:
        arrival, payload = waiting.arrival + part.arrival, waiting.payload + part.payload
        keys = np.array(arrival, dtype=np.int64)
        order = np.argsort(keys, kind="stable")
        # What is still to come happens, and so arrives, at the time reached or later: what arrives before it is settled.
        settled = int(np.searchsorted(keys[order], part.reached))
        ready, later = order[:settled].tolist(), order[settled:].tolist()
        yield _Arriving([arrival[i] for i in ready], [payload[i] for i in ready], part.reached)
        waiting = _Arriving([arrival[i] for i in later], [payload[i] for i in later], part.reached)
    yield waiting


def _in_memory(stream: str, block: Block) -> list[GeneratedEvent]:
    rows = len(block.names)
    columns = [_terms(field, rows) for triple in block.shape for field in triple]
    built = []
    for name, time, *terms in zip(block.names, block.times.tolist(), *columns, strict=True):
        triples = tuple(Triple(*terms[place : place + 3]) for place in range(0, len(terms), 3))
        built.append(GeneratedEvent(stream, name[1:-1], time, time, triples))
    return built


def _terms(field: Field, rows: int) -> list[Term]:
    return [_term(field)] * rows if isinstance(field, str) else [_term(text) for text in field]


@lru_cache(maxsize=65_536)
def _term(text: str) -> Term:
    return parse_term(text)
