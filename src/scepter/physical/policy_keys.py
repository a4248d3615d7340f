"""What pairs that consume may be divided by (`keys`): a variable in which both sides agree, if no occurrence is in two buckets.

A policy takes an occurrence once (spec/20-ep-sparql rule 10). So all scans below a pair have to be divided, and scans that one
triple may match have to be divided by the same of its terms: else it could be taken once for each.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.physical.cutting import Received
from scepter.physical.derive_nodes import Derive
from scepter.physical.instant_nodes import Paired
from scepter.physical.nodes import Node, TripleScan, nodes

if TYPE_CHECKING:
    from scepter.physical.keys import Found, Keys, Origin


def paired_keys(node: Paired, found: Found) -> Keys | None:
    """By what the input of a pair may be divided."""
    left, right = found.keys(node.left), found.keys(node.right)
    if left is None or right is None:  # what has no time is joined freely, and never consumed
        return right if left is None else left
    shared = node.left.schema.certain & node.right.schema.certain
    names = [name for name in left if name in right and name in shared]
    agreed = found.combined((name, [(node.left, left[name]), (node.right, right[name])]) for name in names)
    if any(isinstance(each, Derive) for each in nodes(node)):
        return found.none("a policy may consume what rules derive for any key")
    received = [each for each in nodes(node) if isinstance(each, Received)]
    divided = {name: at for name, at in agreed.items() if {place for (place, _), _ in at} >= {r.place for r in received}}
    if not divided:
        return found.none("the sides of a pair that is consumed share no variable that all of its triple patterns bind")
    apart = {name: at for name, at in divided.items() if _is_in_one_bucket(at, received)}
    return apart or found.none("one triple may be consumed for two keys, by patterns that bind the key in different places")


def _is_in_one_bucket(origin: Origin, received: list[Received]) -> bool:
    """Whether all scans that one triple may match send it to the same bucket."""
    scans = {each.place: _pattern(each.below) for each in received}
    told = [(scans[place], Variable(name)) for (place, _), name in origin if place in scans]
    return all(
        not _may_be_one(one, other) or _places(one, of_one) & _places(other, of_other)
        for (one, of_one), (other, of_other) in combinations(told, 2)
    )


def _pattern(below: Node) -> TriplePattern:
    (scan,) = (node for node in nodes(below) if isinstance(node, TripleScan))
    return scan.pattern


def _terms(triple: TriplePattern) -> tuple[object, object, object]:
    return triple.subject, triple.predicate, triple.object


def _may_be_one(one: TriplePattern, other: TriplePattern) -> bool:
    """Whether a triple may match both."""
    each = zip(_terms(one), _terms(other), strict=True)
    return not any(isinstance(a, Constant) and isinstance(b, Constant) and a != b for a, b in each)


def _places(triple: TriplePattern, variable: Variable) -> set[int]:
    return {place for place, term in enumerate(_terms(triple)) if term == variable}
