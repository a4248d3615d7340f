"""The nodes of rules: what they derive enters the stream, with their solutions' intervals (spec/20-ep-sparql rule 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import PathPattern, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import Sources
from scepter.errors import Span
from scepter.physical.nodes.keys import OWNED, RECALLED, KeyAnalysis, Keys, Origin, Place
from scepter.physical.nodes.nodes import Node, Schema, Unary, nodes, variables_of
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

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """The place of derived triples by which their rules are divided."""
        if found.recalled is None or not self.patterns:
            return super().partition_keys(found)
        return _picked_keys(self.patterns, self.whole, {found.recalled: (((RECALLED, 0), found.recalled),)})

    def partition_places(self, below: frozenset[Place]) -> frozenset[Place]:
        return below | {(RECALLED, 0)}


@dataclass(frozen=True)
class Picked(Unary):
    """The derived triples that match a pattern, or the derived nodes that match several."""

    says = "Picked {patterns}"

    patterns: tuple[TriplePattern, ...]
    whole: tuple[IRI, ...] = ()
    """As `Derive` has it."""

    def _schema(self) -> Schema:
        return _picked(self.patterns)

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """Those of derived triples that its patterns have a variable for."""
        return _picked_keys(self.patterns, self.whole, found.keys(self.input) or {})


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
    """How long a row has to be, with what comes right before it, to be of use to its one reader (`absences`)."""

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

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """Columns of what its rules derive, where each rule puts a variable that is its key. Equal triples agree there, so that
        they are derived in one bucket, and each once. A rule that rests on derived triples finds them in the bucket of the same
        place: it has to be divided by what it recalls there."""
        if self.entailing:
            return found.none("what derived triples entail may be of any key")
        if self.graphs:
            return found.none("a path looks at all that a solution derives")
        every = {column: _origin(self, column, found.assuming(column)) for column in self.schema.variables}
        keys = {column: at for column, at in every.items() if at}
        return keys or found.none("rules derive triples that they share no key with")


def _picked_keys(patterns: tuple[TriplePattern, ...], whole: tuple[IRI, ...], keys: Keys) -> Keys:
    """The keys of derived triples that match a pattern, or of derived nodes that match several, by the patterns' variables."""
    found: dict[str, Origin] = {}
    for column, at in keys.items():
        term = _at(patterns, column, whole)
        if isinstance(term, Variable):
            found[term.name] = at
    return found


def _origin(node: Derive, column: str, found: KeyAnalysis) -> Origin:
    """Where the values of a column come from; nothing if rules cannot be divided by it."""
    ways = []
    for rule in node.rules:
        keys, name = found.keys(rule.root), _filled(rule, column, node.whole)
        at = () if keys is None or name is None else keys.get(name, ())
        exchanges = {exchange for (exchange, _), _ in at}
        recalls = any(exchange == RECALLED for exchange, _ in found.places(rule.root))
        # static rows would be derived from in every bucket, and what is recalled is in no other than its own
        if not at or OWNED in exchanges or (recalls and RECALLED not in exchanges):
            return ()
        ways.append((rule.root, at))
    merged = found.combined([(column, ways)]).get(column, ())
    return tuple(entry for entry in merged if entry[0][0] != RECALLED)


def _filled(rule: DerivedRule, column: str, whole: tuple[IRI, ...]) -> str | None:
    """The one variable that a rule puts into a column. A blank node of a template is new in each solution."""
    parts = [rule.template] if whole else [(triple,) for triple in rule.template]
    terms = {_at(part, column, whole) for part in parts}
    (term,) = terms if len(terms) == 1 else (None,)
    return term.name if isinstance(term, Variable) and not term.name.startswith("_:") else None


def _at(patterns: tuple[TriplePattern, ...], column: str, whole: tuple[IRI, ...]) -> object:
    """What patterns have in a column: at a place of a triple, or as the object of a predicate of a node."""
    if not whole:
        (triple,) = patterns
        return triple.places[TRIPLE.column(column)]
    said = {str(t.predicate.term): t.object for t in patterns if isinstance(t.predicate, Constant)}
    return said.get(column)
