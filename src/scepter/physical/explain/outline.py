"""The operators of a unit as boxes below each other, with what an ontology makes of them: reasoners, rules, its network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scepter.algebra.classes import manchester
from scepter.algebra.events import LogicalEvent
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import TriplePattern
from scepter.ontology.axioms import read_ontology
from scepter.ontology.recognition import Routing, route
from scepter.ontology.rule_text import conflict_rules, rules_of
from scepter.ontology.schema import Schema, SchemaLink
from scepter.physical.explain.event_text import shortened
from scepter.physical.nodes.event_nodes import Contradictions, Recognise, Returned
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.star_nodes import OccurrenceScan
from scepter.physical.plan import UnitPlan
from scepter.rdf.terms import Term, Triple

_MOST_BELOW = 8
_DEEPEST = 4
"""So much of a network is drawn; the counts are of all of it."""


@dataclass(frozen=True, slots=True)
class Box:
    """What every format of `explain` draws: a label, what there is to say below it, and what stands under it."""

    label: str
    details: tuple[str, ...] = ()
    children: tuple[Box, ...] = ()


class Outline:
    """What there is to say of a unit's nodes: what they say themselves, and what the ontology adds."""

    def __init__(self, unit: UnitPlan, ontology: Sequence[Triple], notation: Notation) -> None:
        self._notation, self._ontology = notation, ontology
        events = unit.root.query.logical if isinstance(unit.root, Returned) else ()
        self._routing = route(read_ontology(ontology), events) if isinstance(unit.root, Returned) else None

    def details(self, node: Node) -> tuple[str, ...]:
        """What there is to say of a node besides its line."""
        told = [*node.details(self._notation)]
        if self._routing is not None:
            told += (shortened(sentence, self._notation.prefixes) for sentence in _recognised(node, self._routing))
        return tuple(told)

    def inside(self, node: Node) -> tuple[Box, ...]:
        """What a node does that is no operator of the plan."""
        return tuple(_networks(node.patterns, self._notation, self._ontology)) if isinstance(node, OccurrenceScan) else ()


def _recognised(node: Node, routing: Routing) -> Iterator[str]:
    """Which reasoner serves a logical event and the rules compiled for it; what makes an item inconsistent, as rules tell."""
    if isinstance(node, Recognise):
        event: LogicalEvent = node.event
        reason = routing.reasons.get(event.event)
        yield manchester(event.description)
        yield "recognised by rules" if reason is None else f"recognised by HermiT ({reason})"
        if routing.program is not None and reason is None:
            yield from rules_of(routing.program, event.event)
    elif isinstance(node, Contradictions) and routing.program is not None:
        yield from conflict_rules(routing.program)


def _networks(patterns: Sequence[TriplePattern], notation: Notation, ontology: Sequence[Triple]) -> Iterator[Box]:
    """The schema as it is given and as it is run (the paper's epsilon network before and after its pre-processing)."""
    full = Schema.from_triples(ontology)
    for name, schema in (("as given", full), ("reduced", full.reduced(patterns))) if full else ():
        yield Box(f"Schema {name}", (str(schema.describe()),), tuple(_network(schema.links(), notation)))


def _network(links: Sequence[SchemaLink], notation: Notation) -> Iterator[Box]:
    """Each word below those that it leads to; a word that leads to several stands below each, its own links below the first."""
    below: defaultdict[Term, list[SchemaLink]] = defaultdict(list)
    for link in links:
        below[link.high].append(link)
    lows = {link.low for link in links if link.low != link.high}
    seen: set[Term] = set()

    def drawn(word: Term, how: str, depth: int) -> Box:
        label = f"{how} {notation.term(word)}" if how else notation.term(word)
        if word in seen:
            return Box(label)
        seen.add(word)
        return Box(label, (), tuple(children(word, depth + 1)))

    def children(word: Term, depth: int) -> Iterator[Box]:
        own = below.get(word, [])
        shown = own[:_MOST_BELOW] if depth < _DEEPEST else []
        for link in shown:
            yield drawn(link.low, f"◂ {link.rule}", depth)
        if len(own) > len(shown):
            yield Box(f"… {len(own) - len(shown)} more")

    roots = [word for word in list(below) if word not in lows]
    reached = _reached(roots, below)
    for word in list(below):
        if word not in reached:  # a circle has no root
            roots.append(word)
            reached |= _reached([word], below)
    for word in roots[:_MOST_BELOW]:
        yield drawn(word, "", 0)
    if len(roots) > _MOST_BELOW:
        yield Box(f"… {len(roots) - _MOST_BELOW} more")


def _reached(roots: Sequence[Term], below: dict[Term, list[SchemaLink]]) -> set[Term]:
    found = set(roots)
    pending = list(roots)
    while pending:
        for link in below.get(pending.pop(), ()):
            if link.low not in found:
                found.add(link.low)
                pending.append(link.low)
    return found
