"""Basic event patterns: the mappings of a graph pattern on each item of a window on its own (rule 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, Pattern, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.patterns import compile_pattern
from scepter.kernel.windowed.items import Delta, EventMapping, Item, Values
from scepter.rdf.terms import IRI, Triple

Match: TypeAlias = Callable[[tuple[Triple, ...]], Iterable[Values]]
"""The mappings of a pattern on one graph, each once."""


class Scan:
    """The event mappings of one event label at one place of an event pattern."""

    def __init__(self, label: str, window: IRI, pattern: Pattern, context: Context, consuming: bool) -> None:
        self.label = label
        self.window = window
        self.consuming = consuming
        """Whether a chronological or recent SEQ above it selects its items (rule 9)."""
        self.variables = tuple(sorted(name for name in in_scope(pattern) if not name.startswith("_:")))
        self.certain = frozenset(name for name in certain(pattern) if not name.startswith("_:"))
        self._match = compile_match(pattern, self.variables, context)
        self._mappings: dict[tuple[int, int, Values], EventMapping] = {}
        self._by_item: dict[Item, list[EventMapping]] = {}
        self._added: dict[EventMapping, None] = {}
        self._removed: dict[EventMapping, None] = {}

    def enter(self, item: Item) -> bool:
        """An item enters the window; whether it has mappings."""
        found = []
        for values in self._match(item.triples):
            key = (item.start, item.end, values)
            mapping = self._mappings.get(key)
            if mapping is None:
                mapping = self._mappings[key] = EventMapping(values, item.start, item.end)
                mapping.scan = self
                self._added[mapping] = None
            mapping.items.append(item)
            found.append(mapping)
        if found:
            self._by_item[item] = found
        return bool(found)

    def leave(self, item: Item) -> None:
        """An item leaves the window, or is consumed; it may have gone before."""
        for mapping in self._by_item.pop(item, ()):
            mapping.items.remove(item)
            if mapping.items:
                continue
            del self._mappings[mapping.start, mapping.end, mapping.values]
            if mapping in self._added:
                del self._added[mapping]
            else:
                self._removed[mapping] = None

    def update(self) -> Delta:
        """What has changed since the last time."""
        if not self._added and not self._removed:
            return Delta()
        delta = Delta(list(self._added), list(self._removed))
        self._added, self._removed = {}, {}
        return delta

    def mappings(self) -> Iterable[EventMapping]:
        """All there are."""
        return self._mappings.values()

    def state(self) -> int:
        """How many mappings it keeps."""
        return len(self._mappings)

    def items(self) -> Iterable[Item]:
        """The items that have mappings."""
        return self._by_item


def compile_match(pattern: Pattern, variables: Sequence[str], context: Context) -> Match:
    """A pattern ready for items; one triple pattern, the usual event, needs no general evaluator."""
    if isinstance(pattern, BGP) and len(pattern.triples) == 1 and _plain(pattern.triples[0]):
        return _one_triple(pattern.triples[0], variables)
    plan = compile_pattern(pattern)

    def match(triples: tuple[Triple, ...]) -> Iterable[Values]:
        rows = plan(replace(context, graph=Graph(triples)))
        return dict.fromkeys(tuple([row.get(name) for name in variables]) for row in rows)

    return match


def _plain(triple: TriplePattern) -> bool:
    names = [node.name for node in (triple.subject, triple.predicate, triple.object) if isinstance(node, Variable)]
    return len(set(names)) == len(names)


def _one_triple(triple: TriplePattern, variables: Sequence[str]) -> Match:
    nodes = (triple.subject, triple.predicate, triple.object)
    wanted = [(i, node.term) for i, node in enumerate(nodes) if isinstance(node, Constant)]
    at = {node.name: i for i, node in enumerate(nodes) if isinstance(node, Variable)}
    places = [at[name] for name in variables]
    hidden = len(at) > len(places)  # a blank node of the pattern: different triples may give one mapping

    def match(triples: tuple[Triple, ...]) -> Iterable[Values]:
        found: list[Values] = []
        for each in triples:
            for i, term in wanted:
                if each[i] != term:
                    break
            else:
                found.append(tuple([each[i] for i in places]))
        return dict.fromkeys(found) if hidden else found

    return match
