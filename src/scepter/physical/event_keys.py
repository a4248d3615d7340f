"""What occurrences may be divided by (`keys`): when they start and end, what they assert, and what guards bind.

Occurrences with the same assertions and the same interval are one, however they were found. So that they are found in one
bucket, only what an occurrence itself shows is a key of it. Its start is that of one side of a relation, or of both, and so is
its end: the occurrences of that side go to one bucket each, those of the other to every one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scepter.algebra.events import Keep
from scepter.physical import event_nodes as events
from scepter.physical.event_nodes import ASSERTIONS, END, START
from scepter.physical.nodes import Node
from scepter.physical.time_nodes import Once
from scepter.timeline import Allen

if TYPE_CHECKING:
    from scepter.physical.keys import Found, Keys, Origin

Ways = Sequence[tuple[Node, "Origin"]]

_LEFT: Final = {
    START: {
        Allen.BEFORE, Allen.MEETS, Allen.OVERLAPS, Allen.CONTAINS, Allen.FINISHEDBY, Allen.STARTS, Allen.STARTEDBY,
        Allen.EQUALS,
    },
    END: {
        Allen.AFTER, Allen.METBY, Allen.OVERLAPPEDBY, Allen.CONTAINS, Allen.STARTEDBY, Allen.FINISHES, Allen.FINISHEDBY,
        Allen.EQUALS,
    },
}  # fmt: skip
"""Relations whose hull has the start, or the end, of the left side."""
_SAME: Final = {
    START: {Allen.STARTS, Allen.STARTEDBY, Allen.EQUALS},
    END: {Allen.FINISHES, Allen.FINISHEDBY, Allen.EQUALS},
}
"""Relations whose sides agree in it."""


def event_keys(node: Node, found: Found) -> Keys:
    """By what the input of a node on occurrences may be divided."""
    match node:
        case Once(input) | events.OnceLate(input):
            return found.visible(found.keys(input) or {}, "equal occurrences of different buckets are one")
        case events.Named(input) | events.Asked(input) | events.Guard(input) | events.Within(input) | events.Before(input):
            return found.keys(input) or {}
        case events.Composite(input):
            return {name: at for name, at in (found.keys(input) or {}).items() if name != ASSERTIONS}
        case events.FirstOnes():
            return found.none("FIRST looks at all occurrences")
        case events.LastOnes():
            return found.none("LAST looks at all occurrences")
        case events.Rest():
            return _rest(node, found)
        case events.EventJoin():
            return _joined(node, found)
        case events.Returned(sources=sources):
            return _returned(sources, found)
        case _:
            raise AssertionError(f"{type(node).__name__} is no node on occurrences")


def _joined(node: events.EventJoin, found: Found) -> Keys:
    assert node.relation is not None
    keys = found.combined(_ways(node, node.relation, found))
    if not any(found.is_whole(at, node.left, node.right) for at in keys.values()):
        found.none(f"the sides of {node.relation.value} need not agree in anything")
    return keys


def _ways(node: events.EventJoin, relation: Allen, found: Found) -> Iterator[tuple[str, Ways]]:
    left, right = node.left, node.right
    of_left, of_right = found.keys(left) or {}, found.keys(right) or {}
    kept = {ASSERTIONS: node.assertions, START: node.interval, END: node.interval}
    for name in dict.fromkeys((*of_right, *of_left)):
        whose = kept.get(name)
        if whose is Keep.BOTH:  # a variable is whose side binds it, and both sides' where they are joined on it
            if name == ASSERTIONS:
                continue
            whose = Keep.LEFT if relation in _LEFT[name] else Keep.RIGHT
        if whose is not Keep.LEFT and name in of_right:
            yield name, [(left, ()), (right, of_right[name])]
        if whose is not Keep.RIGHT and name in of_left:
            yield name, [(left, of_left[name]), (right, ())]
        agree = relation in _SAME[name] if name in _SAME else name in node.keys
        if agree and name in of_left and name in of_right:
            yield name, [(left, of_left[name]), (right, of_right[name])]


def _rest(node: events.Rest, found: Found) -> Keys:
    """What is left of an item depends on the occurrences that end with it."""
    items, used = found.keys(node.items) or {}, found.keys(node.used) or {}
    ways: list[tuple[str, Ways]] = [(name, [(node.items, items[name]), (node.used, ())]) for name in (START, END)]
    if END in used:
        ways.append((END, [(node.items, items[END]), (node.used, used[END])]))
    keys = found.combined(ways)
    if not any(found.is_whole(at, node.items, node.used) for at in keys.values()):
        found.none("NOT looks at every item, and at occurrences that are not divided by their end")
    return keys


def _returned(sources: Sequence[Node], found: Found) -> Keys:
    every = [found.keys(source) or {} for source in sources]
    names = [name for name in every[0] if all(name in keys for keys in every)]
    keys = found.combined((n, [(s, of[n]) for s, of in zip(sources, every, strict=True)]) for n in names)
    if not keys:
        found.none("the events that are returned are divided by nothing that all of them have")
    return keys
