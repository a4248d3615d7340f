"""What rules may be divided by (`keys`): a place of the triples they derive, where each rule puts a variable that is its key.

Equal triples agree there, so that they are derived in one bucket, and each once. A rule that rests on derived triples finds
them in the bucket of the same place: it has to be divided by what it recalls there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.physical.derive_nodes import TRIPLE, Derive, DerivedRule
from scepter.rdf.terms import IRI

if TYPE_CHECKING:
    from scepter.physical.keys import Found, Keys, Origin

OWNED = -1
"""The exchange of rows that every bucket has, and keeps its own of."""
RECALLED = -2
"""The exchange that derived triples come back by, which is none: they are in the bucket that derived them."""


def derive_keys(node: Derive, found: Found) -> Keys:
    """By what the input of rules may be divided: columns of what they derive."""
    if node.entailing:
        return found.none("what derived triples entail may be of any key")
    if node.graphs:
        return found.none("a path looks at all that a solution derives")
    every = {column: _origin(node, column, found.assuming(column)) for column in node.schema.variables}
    keys = {column: at for column, at in every.items() if at}
    return keys or found.none("rules derive triples that they share no key with")


def picked_keys(patterns: tuple[TriplePattern, ...], whole: tuple[IRI, ...], keys: Keys) -> Keys:
    """The keys of derived triples that match a pattern, or of derived nodes that match several, by the patterns' variables."""
    found: dict[str, Origin] = {}
    for column, at in keys.items():
        term = _at(patterns, column, whole)
        if isinstance(term, Variable):
            found[term.name] = at
    return found


def _origin(node: Derive, column: str, found: Found) -> Origin:
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
        return (triple.subject, triple.predicate, triple.object)[TRIPLE.column(column)]
    said = {str(t.predicate.term): t.object for t in patterns if isinstance(t.predicate, Constant)}
    return said.get(column)
