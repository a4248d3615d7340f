"""The lower stage of a plan at work: what looks at one event at a time, where events are read."""

from __future__ import annotations

import time
from collections.abc import Sequence

from scepter.kernel.build import Surroundings, leaf_groups, operator_of
from scepter.kernel.operator import Operator, Until
from scepter.kernel.rows import Int64, Mask, Rows
from scepter.kernel.scan.intake import Intake
from scepter.physical.metrics import Metrics
from scepter.physical.nodes.nodes import Node, TripleScan, nodes
from scepter.physical.nodes.sequence_nodes import GraphScan
from scepter.physical.nodes.star_nodes import OccurrenceScan
from scepter.rdf.terms import IRI
from scepter.timeline import MAX_INSTANT


def name_parts(below: Sequence[Node], around: Surroundings, streams: Sequence[IRI]) -> None:
    """Number the parts of the pattern that select events as every worker numbers them; of occurrences, their streams."""
    for root in below:
        for node in nodes(root):
            match node:
                case TripleScan(label=label) if label:
                    around.part(label)
                case GraphScan(scan=scan):
                    around.part(scan.label)
                case OccurrenceScan():
                    for iri in streams:
                        around.part(iri.value)
                case _:
                    pass


class Scanner:
    """Makes the rows of each exchange out of batches of events."""

    def __init__(self, below: Sequence[Node], around: Surroundings, streams: Sequence[IRI], *, measured: bool = False) -> None:
        every = {id(node): node for root in below for node in nodes(root)}  # what several exchanges need is made once
        self.nodes = list(every.values())
        """What it runs, inputs first."""
        self._below = [list(every).index(id(root)) for root in below]
        leaves = [node for node in self.nodes if not node.inputs]
        self._leaf_at = [place for place, node in enumerate(self.nodes) if not node.inputs]
        self._groups = leaf_groups(leaves, around)
        places = {key: place for place, key in enumerate(every)}
        self._inputs = [[places[id(each)] for each in node.inputs] for node in self.nodes]
        self._operators: list[Operator | None] = [operator_of(node, around) if node.inputs else None for node in self.nodes]
        self._streams = streams
        self.metrics = [Metrics() for _ in self.nodes]
        """What the operators did; the CPU time only where it is `measured`."""
        self._clock = time.thread_time_ns if measured else int
        self.met_schema = False
        """Whether an event held a schema statement."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        found: dict[int, Rows] = {}
        for group in self._groups:
            started = self._clock()
            made, events = group.scan(intake, wanted, self._streams)
            spent = (self._clock() - started) // len(made)
            for place, rows in zip(group.places, made, strict=True):
                found[self._leaf_at[place]] = rows
                self.metrics[self._leaf_at[place]].count(events, len(rows), spent)
            self.met_schema = self.met_schema or getattr(group.leaves, "met_schema", False)
        for place, operator in enumerate(self._operators):
            if operator is not None:
                inputs = [found[each] for each in self._inputs[place]]
                started = self._clock()
                found[place] = operator.process(inputs, Until(MAX_INSTANT - 1))
                self.metrics[place].count(sum(map(len, inputs)), len(found[place]), self._clock() - started)
        return [found[place] for place in self._below]

    def refs(self) -> list[Int64]:
        return [array for operator in self._operators if operator is not None for array in operator.refs()]
