"""A physical plan: the value that `explain` prints and that every engine executes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.query import Unit
from scepter.physical.facts import Facts
from scepter.physical.nodes.nodes import Node, nodes
from scepter.rdf.terms import IRI


@dataclass(frozen=True)
class UnitPlan:
    """One unit of a program, planned: a tree of operators and what the engine has to know of it."""

    number: int
    """Its place in the program."""
    unit: Unit
    """What it was planned from, optimised."""
    root: Node
    predicates: frozenset[IRI] | None
    """The predicates that any of its operators can use; None when that is any."""
    at_once: bool = False
    """Whether an answer is certain before its instant is over: no later event of the same time can take it back."""

    ranked: bool = False
    """Whether it orders the answers of an instant itself."""

    entailed: bool = False
    """Whether events are given to it with all that their triples entail; else its operators see to that, or there is no
    schema."""

    estimates: tuple[int | None, ...] = ()
    """Of each operator how many rows it is thought to give, where that is known before the run."""

    @property
    def in_parts(self) -> bool:
        """Whether an event that comes at an open instant may be processed on top of it, without those before it: what waits for
        the instant's end takes any, and else no operator lets events of one time influence each other."""
        return not self.at_once or all(node.in_parts for node in nodes(self.root))

    @property
    def exact(self) -> tuple[str, ...]:
        """Why parts of it work on terms, one by one, and not in columns; empty for a unit that is wholly in columns."""
        return tuple(dict.fromkeys(node.exact for node in nodes(self.root) if node.exact))


@dataclass(frozen=True)
class PhysicalPlan:
    """The units of a program, planned alike."""

    units: tuple[UnitPlan, ...]
    facts: Facts
    """What it was made from; its kind of time is always told."""
    assumed: bool = False
    """Whether the kind of time is a guess: no stream has been looked at."""
    shared: tuple[tuple[int, ...], ...] = ()
    """The numbers of units that have operators in common, and run as one where they run in one place."""

    @property
    def predicates(self) -> frozenset[IRI] | None:
        """The predicates that any unit can use; None when that is any."""
        found: frozenset[IRI] = frozenset()
        for unit in self.units:
            if unit.predicates is None:
                return None
            found |= unit.predicates
        return found

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Units that construct a stream before those that read it; otherwise as written."""
        return tuple(_order([plan.unit for plan in self.units]))

    @cached_property
    def feeds(self) -> Mapping[int, IRI]:
        """The streams that units construct for others, by the places of the units: what these give is no answer."""
        read = {stream.iri for plan in self.units for stream in plan.unit.streams}
        made = ((number, plan.unit.into) for number, plan in enumerate(self.units))
        return {number: into for number, into in made if into is not None and into in read}

    @cached_property
    def in_parts(self) -> bool:
        """Whether that holds of every unit, and none constructs what another reads."""
        return not self.feeds and all(unit.in_parts for unit in self.units)

    @cached_property
    def rounds(self) -> tuple[int, ...]:
        """Over many workers: the round of each unit, behind those that construct what it reads. Those that answer are in the
        last one, so that no round is both an answer and the input of another; but one that names no stream reads nothing that
        others construct, and is in the first."""
        found: dict[int, int] = {}
        for number in self.order:
            read = {stream.iri for stream in self.units[number].unit.streams}
            found[number] = max((found[n] + 1 for n, into in self.feeds.items() if into in read), default=0)
        last = max((found[number] + 1 for number in self.feeds), default=0)
        answers = {number for number in found if number not in self.feeds and self.units[number].unit.streams}
        return tuple(last if number in answers else found[number] for number in range(len(self.units)))


def _order(units: list[Unit]) -> Iterator[int]:
    writers: dict[IRI, list[int]] = {}
    for number, unit in enumerate(units):
        if unit.into is not None:
            writers.setdefault(unit.into, []).append(number)
    done: set[int] = set()
    for first in range(len(units)):
        pending = [first]
        while pending:  # lowering refuses circles
            number = pending[-1]
            feeding = [w for stream in units[number].streams for w in writers.get(stream.iri, ()) if w not in done]
            if number in done or not feeding:
                pending.pop()
                if number not in done:
                    done.add(number)
                    yield number
            else:
                pending += reversed(feeding)
