"""Queries tried on an excerpt: the engine's answers to a program with one unit exchanged."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from scepter.algebra.query import Program, Unit
from scepter.insight.diagnosis.excerpt import Excerpt
from scepter.kernel.static.background import Background
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions

MOST_PARTIAL = 20_000
"""A trial with more matches is taken back, for one on fewer events."""
_FIRST_EVENTS = 16


class TooMany(Exception):
    """A trial has more matches, or a step more pairs, than can be looked at."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Runs units in the place of one of a program's."""

    program: Program
    number: int
    excerpt: Excerpt
    options: RunOptions
    background: Background
    ontology: tuple[Triple, ...] = ()

    def matches(self, unit: Unit, most: int = MOST_PARTIAL) -> list[Match]:
        """The matches of a unit that stands for the program's; an event is shown as its number. Raises TooMany."""
        program, number = self._program(unit)
        # the columns of a background point into the texts of one engine: each has its own, of the same graphs
        static = Background()
        static.dataset = self.background.dataset
        engine = LocalEngine(
            program, self.options, static, ontology=self.ontology, key=self.excerpt.key, shown=lambda event, name: event
        )
        engine.streams[:] = dict.fromkeys((*self.excerpt.streams, *engine.streams))
        engine.reading = copy(self.excerpt.reading)
        for (batch, _), wanted in zip(self.excerpt.batches, self.excerpt.wanted, strict=True):
            engine.take(batch, wanted)
        found: list[Match] = []
        for until in self._instants():
            found += (match for match in engine.advance(until) if match.query == number)
            if len(found) > most:
                raise TooMany(f"more than {most:,} partial matches")
            engine.commit()
        found += (match for match in engine.finish() if match.query == number)
        if len(found) > most:
            raise TooMany(f"more than {most:,} partial matches")
        return found

    def _program(self, unit: Unit) -> tuple[Program, int]:
        """The program of the unit and those whose streams it may read; the unit's number in it."""
        kept: list[Unit] = []
        for number, other in enumerate(self.program.units):
            if number == self.number:
                kept.append(unit)
            elif other.into is not None:
                kept.append(other)
        return Program(tuple(kept)), next(i for i, each in enumerate(kept) if each is unit)

    def _instants(self) -> list[int]:
        """Ever longer stretches of time: an explosion shows before it is large."""
        ends = np.unique(self.excerpt.ends())
        places = []
        place = _FIRST_EVENTS
        while place < len(ends):
            places.append(int(ends[place]))
            place *= 2
        return places

    def made(self, stream: IRI) -> bool:
        """Whether a unit of the program constructs the stream."""
        return any(unit.into == stream for unit in self.program.units)
