"""The parts of a program that are worked on apart from each other on Spark, each in its own buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod
from typing import TypeAlias

from scepter.kernel.state.slices import Slices, cut
from scepter.physical.distribution.exchanges import unit_exchanges
from scepter.physical.distribution.partitioning import (
    PartitionKind,
    asks,
    kept_together,
    looks_back,
    partitioning,
    sequence_division,
)
from scepter.physical.distribution.stages import Stages, unit_stages
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.plan import PhysicalPlan
from scepter.rdf.terms import IRI

FEW = 32
"""So many buckets at most where every one of them hears of every instant."""

A_CORE = 4
"""So many buckets are made for each core, so that cores that are done early find more to do. A grid has one: the more buckets
it has, the more often rows are sent."""


class Form(Enum):
    """What crosses the shuffle."""

    SOLUTIONS = "solutions"
    """What a sequence's scans find."""
    ROWS = "rows"
    """What the lower stage of a plan makes."""
    EVENTS = "events"
    """Events as they are: the units run as in one process, over slices of history or over all of it."""


@dataclass(frozen=True)
class Share:
    """Units that are worked on together, and in which buckets."""

    number: int
    units: tuple[int, ...]
    """Their places in the plan."""
    form: Form
    buckets: int
    stages: Stages | None = None
    slices: Slices | None = None
    """Over history: how it is cut where nothing else divides the work."""
    sides: tuple[int, ...] = ()
    """Of a grid: its buckets along each dimension."""
    merges: bool = False
    """Whether rows of different buckets may be one row of the answer."""
    round: int = 0
    """Over history: which rounds have to be over before, in which others construct what its units read."""
    sources: tuple[int | None, ...] = ()
    """Of a unit in several stages: of each exchange the share that makes its rows, None where events are read."""
    to: tuple[tuple[int, int], ...] = ()
    """The shares that its rows go to, and which of their exchanges that is; none: they are answers."""
    depth: int = 0
    """How many shares lie one behind another before it."""
    feeds: tuple[int, ...] = ()
    """Live: the shares that read what it constructs."""

    @property
    def reads(self) -> bool:
        """Whether some of its rows are made where events are read."""
        return not self.sources or None in self.sources


Span: TypeAlias = tuple[int, int]
"""The first time and the last of history, as far as they are known."""


def shares(
    plan: PhysicalPlan, streams: Sequence[IRI], buckets: int, *, live: bool, span: Span | None = None
) -> tuple[Share, ...]:
    """The parts of a program, each unit by itself; live, some that feed each other are together."""
    together = kept_together(plan, streams) if live else ()
    found: list[Share] = []
    rest: list[tuple[int, ...]] = [together] if together else []
    for number in range(len(plan.units)):
        if number in together:
            continue
        if live and (stages := _one_behind_another(plan, number, buckets, len(found))):
            found += stages
            continue
        share = _divided(plan, number, buckets, span, live=live)
        if share is None:
            rest.append((number,))
        else:
            found.append(share)
    if live and rest:  # one log of events for all of them
        rest = [tuple(sorted(number for units in rest for number in units))]
    found += [_of_events(plan, units, buckets, span, live=live) for units in rest]
    if live:
        _behind_makers(plan, found)
    rounds = (0,) * len(plan.units) if live else plan.rounds
    return tuple(replace(share, number=number, round=rounds[share.units[0]]) for number, share in enumerate(found))


def _divided(plan: PhysicalPlan, number: int, buckets: int, span: Span | None, *, live: bool) -> Share | None:
    unit = plan.units[number]
    if isinstance(unit.root, SequenceNode):
        return None if unit.root.flattened is not None else _of_sequence(plan, number, buckets, span, live=live)
    found = unit_stages(unit)
    if not isinstance(found, Stages):
        return None
    if found.why and not live and slices_of(plan, (number,), buckets):
        return None  # rows of a slice are sent once, those of a grid several times
    merges = found.merges or asks(unit)
    return _of_rows(number, found, 1 if live and merges else buckets, merges=merges)


def _of_sequence(plan: PhysicalPlan, number: int, buckets: int, span: Span | None, *, live: bool) -> Share:
    unit = plan.units[number]
    assert isinstance(unit.root, SequenceNode)
    how, division = partitioning(unit.root.plan), sequence_division(unit.root.plan, live=live)
    if division is PartitionKind.SLICES and buckets > 1:  # a match belongs to the slice of its start
        back = looks_back([unit], plan.facts)
        assert back is not None
        back = max(back, 1)
        slices = cut(back, buckets, before=back if how.look_back else 0, after=back, span=span)
        return Share(0, (number,), Form.SOLUTIONS, slices.places, slices=slices, merges=how.merges)
    if division is not PartitionKind.GRID:
        return Share(0, (number,), Form.SOLUTIONS, buckets, merges=how.merges)
    side = max(1, buckets // A_CORE)
    return Share(0, (number,), Form.SOLUTIONS, side, sides=(side,) if side > 1 else (), merges=how.merges)


def _of_rows(number: int, found: Stages, buckets: int, *, merges: bool = False) -> Share:
    most = min(buckets, FEW) if found.everywhere else buckets
    if not found.why:
        return Share(0, (number,), Form.ROWS, most, found, sides=() if found.plain else (most,), merges=merges)
    sides = found.sides(max(1, most // A_CORE))
    return Share(0, (number,), Form.ROWS, prod(sides), found, sides=sides, merges=merges)


def _one_behind_another(plan: PhysicalPlan, number: int, buckets: int, first: int) -> list[Share]:
    """The stages of a unit as shares, which are numbered from `first` on; none where there are no several, or all before the
    last would have one bucket."""
    stages = unit_exchanges(plan.units[number])
    found: list[Share] = []
    root = plan.units[number].root
    for place, stage in enumerate(stages):
        if isinstance(root, SequenceNode) and not place:
            share = _of_sequence(plan, number, buckets, None, live=True)
        else:
            share = _of_rows(number, stage.stages, buckets)
        depth = max((1 + found[source].depth for source in stage.sources if source is not None), default=0)
        sources = tuple(None if source is None else first + source for source in stage.sources)
        found.append(replace(share, sources=sources, depth=depth, merges=False))
        for exchange, source in enumerate(stage.sources):
            if source is not None:
                found[source] = replace(found[source], to=(*found[source].to, (first + place, exchange)))
    return found if any(share.buckets > 1 for share in found[:-1] or found) else []


def _behind_makers(plan: PhysicalPlan, found: list[Share]) -> None:
    """Let those that construct a stream feed those that read it, which lie behind them."""
    for number in plan.order if plan.feeds else ():
        read = {stream.iri for stream in plan.units[number].unit.streams}
        mine = [at for at, share in enumerate(found) if share.units == (number,) and share.form is not Form.EVENTS]
        makers = [at for at, share in enumerate(found) if not share.to and plan.feeds.get(share.units[0]) in read]
        makers = [at for at in makers if found[at].form is not Form.EVENTS]
        for at in mine:
            before = (*makers, *(source for source in found[at].sources if source is not None))
            found[at] = replace(found[at], depth=max((1 + found[each].depth for each in before), default=0))
        for at in makers:
            found[at] = replace(found[at], feeds=(*found[at].feeds, *(each for each in mine if found[each].reads)))


def _of_events(plan: PhysicalPlan, units: tuple[int, ...], buckets: int, span: Span | None, *, live: bool) -> Share:
    slices = None if live else slices_of(plan, units, buckets, span)
    if slices is None:
        return Share(0, units, Form.EVENTS, 1)
    merges = any(asks(plan.units[number]) for number in units)
    return Share(0, units, Form.EVENTS, slices.places, slices=slices, merges=merges)


def slices_of(plan: PhysicalPlan, units: tuple[int, ...], buckets: int, span: Span | None = None) -> Slices | None:
    """How history is cut for some units; None where their answers may look back for ever."""
    back = looks_back([plan.units[number] for number in units], plan.facts) if buckets > 1 else None
    if back is None:
        return None
    back = max(back, 1)
    return cut(back, buckets, before=back, after=0, span=span)
