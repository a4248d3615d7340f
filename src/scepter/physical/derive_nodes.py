"""The nodes of rules: what they derive enters the stream, with their solutions' intervals (spec/20-ep-sparql rule 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from scepter.algebra.patterns import PathPattern, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import Sources
from scepter.errors import Span
from scepter.physical.nodes import Node, Schema, Unary, nodes, variables_of
from scepter.rdf.terms import IRI

TRIPLE = Schema.bound(("s", "p", "o"))
"""The variables of derived triples."""
GRAPHS = Schema.bound((*TRIPLE.variables, "_:graph"))
"""With the solution that each was derived from. A triple that had been derived before stands with its graph again: its graph
has the number 1, that of a new one 0."""


@dataclass(frozen=True)
class Recalled(Node):
    """Leaf inside a `Derive`: those of its own triples that match a pattern, or its nodes that match several; without one, all
    of its triples, with their graphs."""

    says = "Recalled{patterns: ~}"

    patterns: tuple[TriplePattern, ...]
    whole: tuple[IRI, ...] = ()
    """As `Derive` has it."""

    def _schema(self) -> Schema:
        return _picked(self.patterns) if self.patterns else GRAPHS


@dataclass(frozen=True)
class Picked(Unary):
    """The derived triples that match a pattern, or the derived nodes that match several."""

    says = "Picked {patterns}"

    patterns: tuple[TriplePattern, ...]
    whole: tuple[IRI, ...] = ()
    """As `Derive` has it."""

    def _schema(self) -> Schema:
        return _picked(self.patterns)


def _picked(patterns: tuple[TriplePattern, ...]) -> Schema:
    return Schema.bound(dict.fromkeys(name for pattern in patterns for name in variables_of(pattern)))


@dataclass(frozen=True)
class DerivedPath(Unary):
    """The solutions of a path within what one solution of a rule derives, or with what is static where that has no time."""

    says = "DerivedPath {pattern}"
    exact = "a path of any length is matched within one event"

    pattern: PathPattern
    sources: Sources
    needy: bool = False
    """Whether what needs no triple is left out: it holds without anything derived."""

    def _schema(self) -> Schema:
        return Schema(tuple(sorted(in_scope(self.pattern))), certain(self.pattern))


@dataclass(frozen=True)
class DerivedRule:
    """A rule of a stratum: its solutions' operators and its template."""

    number: int
    label: str
    template: tuple[TriplePattern, ...]
    root: Node
    span: Span | None = None


@dataclass(frozen=True)
class Derive(Node):
    """Rules that feed each other, to a fixpoint: the triples they derive. Its inputs are what does not rest on them.

    Where each solution derives what is said of one new blank node, and nothing but rules of that kind says anything with these
    predicates of a derived node, the node is one row: what `whole` names, instead of triples that are joined again.
    """

    says = "Derive {until}: {labels}{whole:, nodes with ~}{shortest:, of ~ or more with what comes right before}"

    rules: tuple[DerivedRule, ...]
    graphs: bool = False
    """Whether somebody looks at all that one solution derives together."""
    whole: tuple[IRI, ...] = ()
    """The predicates of derived nodes, which are rows of a node and its objects; none for triples."""
    entailing: bool = False
    """Whether an ontology may entail more of what they derive."""
    one_pass: bool = False
    """Whether its rule only carries on what it derived, so that one pass in order of end derives all (`linear_rules`)."""
    shortest: int | None = None
    """How long a row has to be, with what comes right before it, to be of use to its one reader (`semi_joins`)."""

    @cached_property
    def inner(self) -> tuple[Node, ...]:
        """The operators that rest on what the rules derive, inputs first."""
        found: dict[int, Node] = {}
        for node in self._every():
            if isinstance(node, Recalled) or any(id(each) in found for each in node.inputs):
                found[id(node)] = node
        return tuple(found.values())

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        """What the inner operators take from outside, and rules that rest on no other."""
        inner = {id(node) for node in self.inner}
        given = [each for node in self.inner for each in node.inputs] + [rule.root for rule in self.rules]
        return tuple({id(node): node for node in given if id(node) not in inner}.values())

    def _every(self) -> Iterator[Node]:
        seen: set[int] = set()
        for rule in self.rules:
            for node in nodes(rule.root):
                if id(node) not in seen:
                    seen.add(id(node))
                    yield node

    def _schema(self) -> Schema:
        if self.whole:
            return Schema(("s", *(str(predicate) for predicate in self.whole)), frozenset(("s",)))
        return GRAPHS if self.graphs else TRIPLE

    def over(self, changed: Callable[[Node], Node]) -> Derive:
        """With other operators for the solutions of its rules."""
        roots = [changed(rule.root) for rule in self.rules]
        if all(new is rule.root for new, rule in zip(roots, self.rules, strict=True)):
            return self
        return replace(self, rules=tuple(replace(rule, root=new) for new, rule in zip(roots, self.rules, strict=True)))

    @property
    def until(self) -> str:
        """How often rules run, in words."""
        if self.one_pass:
            return "to a fixpoint, in one pass in order of end"
        return "to a fixpoint" if self.inner else "once"

    @property
    def labels(self) -> str:
        """The rules' names."""
        return ", ".join(rule.label for rule in self.rules)
