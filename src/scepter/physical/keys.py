"""By which variables the input of a plan's operators may be divided, so that no answer crosses two buckets.

A scan offers the variables it binds, a group keeps those it groups by, a projection hides some. A join keeps what both sides
bind and share; and what one side binds, where the rows of the other can go to every bucket. What is left at the root and bound
by all scans is a key; what only some of them bind is a side of a grid (`stages`). Where there is no key, the first operator
that lost it gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from scepter.algebra.expressions import Variable
from scepter.physical import nodes
from scepter.physical.cutting import FirstAnswer, Received
from scepter.physical.derive_keys import OWNED, RECALLED, derive_keys, picked_keys
from scepter.physical.derive_nodes import Derive, Picked, Recalled
from scepter.physical.event_keys import event_keys
from scepter.physical.event_match import EventMatch
from scepter.physical.event_nodes import ASSERTIONS, END, EVENT_NODES, START
from scepter.physical.instant_nodes import Asked, Paired, TimeGroup, Tracked
from scepter.physical.match_keys import match_keys
from scepter.physical.nodes import Node
from scepter.physical.policy_keys import paired_keys
from scepter.physical.star_nodes import AskedNow, MatchedOnce, Occurrences, OccurrenceScan, TripleStar
from scepter.physical.time_nodes import (
    AnsweredOnce,
    Answers,
    EveryInstant,
    GapJoin,
    Inline,
    Kind,
    Once,
    Rename,
    StaticScan,
    TimeFilter,
    TimeJoin,
    TimeValues,
)
from scepter.physical.window_nodes import (
    Coalesce,
    CountedWindow,
    Fixed,
    Group,
    LatestOccurrence,
    NotStatic,
    Output,
    Partners,
    Report,
    ValidityJoin,
    ValidityOuterJoin,
    Window,
)

Place: TypeAlias = tuple[int, int]
"""An exchange and, of one that sends occurrences of triples, the pattern that they match; or OWNED and a node (`Owned`)."""
Origin: TypeAlias = tuple[tuple[Place, str], ...]
"""Where a key's values come from: the places that have it, and the variable there. The rows of all others below the node that
offers it go to every bucket."""
Keys: TypeAlias = Mapping[str, Origin]
"""The variables of a node by which its input can be divided. One that a projection has hidden keeps its place under a name that
no query has."""


class Found:
    """The keys of a plan's nodes, and the first reason for which there is none."""

    def __init__(self, recalled: str | None = None, *, strictly: bool = False) -> None:
        """`recalled`: the column of derived triples that rules are divided by. `strictly`: equal rows are to be in one bucket,
        and not to be merged behind them."""
        self.reason: str | None = None
        self._strictly = strictly
        self._recalled = recalled
        self.merges = False
        self._known: dict[int, Keys | None] = {}
        self._places: dict[int, frozenset[Place]] = {}

    def assuming(self, column: str) -> Found:
        """The keys of nodes inside rules, if those are divided by a column of what they derive."""
        return Found(column, strictly=self._strictly)

    def keys(self, node: Node) -> Keys | None:
        """By which variables a node's input may be divided; None: any, since it reads nothing but static data."""
        if id(node) not in self._known:
            self._known[id(node)] = self._keys(node)
        return self._known[id(node)]

    def _keys(self, node: Node) -> Keys | None:
        if isinstance(node, (nodes.Filter, nodes.Extend, TimeFilter)) and len(node.inputs) > 1:
            return self._asking(self.keys(node.inputs[0]), node)
        match node:
            case Received():
                return _offered(node)
            case _ if isinstance(node, (Once, *EVENT_NODES)) and ASSERTIONS in node.schema.variables:
                return event_keys(node, self)
            case nodes.Filter() | nodes.Static() | nodes.Extend() | TimeFilter() | TimeValues() | NotStatic() | Window():
                return self.keys(node.inputs[0])
            case Tracked(input):
                return self.keys(input)
            case Paired():
                return paired_keys(node, self)
            case Derive():
                return derive_keys(node, self)
            case Picked(input, patterns, whole):
                return picked_keys(patterns, whole, self.keys(input) or {})
            case Recalled(patterns, whole) if self._recalled is not None and patterns:
                return picked_keys(patterns, whole, {self._recalled: (((RECALLED, 0), self._recalled),)})
            case Occurrences(input):
                return self.none("a window of the last n counts every triple") if node.counted else self.keys(input)
            case TripleStar():
                return self._star(node)
            case Asked(input):
                return self._asking(self.keys(input), node)
            case AskedNow():
                return self.none("EXISTS may look at rows from anywhere")
            case MatchedOnce(input, occurrences=True):  # matches of the same occurrences are in the same bucket
                return {name: at for name, at in (self.keys(input) or {}).items() if not (is_hidden(name) and owns(at))}
            case Once(input) | MatchedOnce(input):
                if self._strictly:
                    return self.shown(self.keys(input), _EQUAL)
                keys = self.keys(input)
                self.merges = self.merges or any(map(is_hidden, keys or ()))
                return keys
            case Coalesce(input):
                return self.shown(self.keys(input), "DISTINCT compares all rows")
            case LatestOccurrence(input):
                return self.shown(self.keys(input), "timestamp() of one constant triple looks at the whole stream")
            case FirstAnswer():
                return self.none("ASK has one answer")
            case nodes.Project(input, variables) | Answers(input, variables):
                keys = self.keys(input)
                if isinstance(node, Answers) and node.once is not None and self._strictly:
                    keys = self.shown(keys, _EQUAL, frozenset(node.once))
                elif isinstance(node, Answers) and node.once is not None:
                    self.merges = self.merges or not set(keys or ()) <= set(node.once)
                return _projected(keys, variables)
            case Rename(input, names):
                return _renamed(self.keys(input), dict(zip(input.schema.variables, names, strict=True)))
            case nodes.Union(left, right):
                return self._union(left, right)
            case TimeJoin():
                return self._time_join(node)
            case GapJoin():
                return self._gap_join(node)
            case ValidityJoin(left, right):
                shared = left.schema.certain & right.schema.certain
                return self._joined(left, right, shared, outer=False)
            case ValidityOuterJoin(left, right, partners):
                shared = left.schema.certain & right.schema.certain
                if partners is not Partners.EXISTS or self.keys(left) is not None:
                    return self._joined(left, right, shared, outer=True)
                # a static row has partners of several values of what only the right binds
                return self.shown(self.keys(right), _apart(left, right, shared), shared)
            case Group(input, keys):
                why = (
                    "an aggregate without GROUP BY looks at all rows"
                    if not keys
                    else "no variable of GROUP BY is a key below it"
                )
                return self.shown(self.keys(input), why, frozenset(keys))
            case TimeGroup(input, keys) if keys:
                shown = self.shown(
                    self.keys(input), "no variable of GROUP BY is a key below it", frozenset(old for _, old in keys)
                )
                return shown and {new: shown[old] for new, old in keys if old in shown}
            case TimeGroup():
                return self.none("an aggregate without GROUP BY looks at all rows")
            case AnsweredOnce():
                return self.none("a query of static data alone is answered once")
            case EveryInstant():
                return self.none("what needs no triple would be answered at each instant in every bucket")
            case EventMatch():
                return match_keys(node, self)
            case Report():
                return self._report(node)
            case CountedWindow(input):  # what it counts is told to every bucket
                return self.keys(input)
            case Inline() | StaticScan() | Fixed():
                return None
            case _:
                return self.none(f"{type(node).__name__} may combine rows from anywhere")

    def none(self, why: str) -> Keys:
        """No key; the first reason is told."""
        self.reason = self.reason or why
        return {}

    def shown(self, keys: Keys | None, why: str, among: frozenset[str] | None = None) -> Keys | None:
        """The keys that are still to be seen: by hidden ones, equal rows would be taken for different ones."""
        if keys is None:
            return None
        kept = {n: origin for n, origin in keys.items() if not is_hidden(n) and (among is None or n in among)}
        return kept or self.none(why)

    def visible(self, keys: Keys, why: str) -> Keys:
        """The keys that no projection has hidden; where there are others, it is told why they are none."""
        if any(map(is_hidden, keys)):
            self.none(why)
        return {name: origin for name, origin in keys.items() if not is_hidden(name)}

    def _union(self, left: Node, right: Node) -> Keys | None:
        of_left, of_right = self.keys(left), self.keys(right)
        if of_left is None and of_right is None:
            return None
        if of_left is None or of_right is None:
            self.none("a static side of UNION would be answered in every bucket")
        else:
            self._strict(left, right, None, "the sides of UNION share no variable that both bind")
        of_left, of_right = self._own(left) if of_left is None else of_left, self._own(right) if of_right is None else of_right
        return self.combined((name, [(left, of_left[name]), (right, of_right[name])]) for name in of_left if name in of_right)

    def _own(self, node: Node) -> Keys:
        """What rows that are in every bucket can be divided by once they are there."""
        return {name: (((OWNED, id(node)), name),) for name in node.schema.variables if name in node.schema.certain}

    def _time_join(self, node: TimeJoin) -> Keys | None:
        keys = self._joined(node.left, node.right, frozenset(node.keys), outer=node.kind is not Kind.INNER)
        return keys if node.remembered is None else self._asking(keys, node)

    def _gap_join(self, node: GapJoin) -> Keys | None:
        ends = self._joined(node.left, node.right, frozenset(node.keys), outer=False)
        between = self.keys(node.between)
        if not ends or between is None:
            return ends
        of_gap = {name: between[name] for name in node.gap_keys if name in between}
        if not any(self.is_whole((*at, *of_gap.get(name, ())), node) for name, at in ends.items()):
            self.none("what stands between may come from anywhere")
        return self.combined(
            (name, [(node.left, at), (node.right, at), (node.between, of)])
            for name, at in ends.items()
            for of in ((), of_gap.get(name, ()))
        )

    def _asking(self, keys: Keys | None, node: Node) -> Keys | None:
        """With EXISTS: what it looks at has to be in every bucket."""
        self.none("EXISTS may look at rows from anywhere")
        others = node.inputs[2:] if isinstance(node, TimeJoin) else node.inputs[1:]
        return keys and self.combined((name, [(other, ()) for other in others] + [(node, at)]) for name, at in keys.items())

    def _joined(self, left: Node, right: Node, shared: frozenset[str], *, outer: bool) -> Keys | None:
        """Partners agree in the shared variables; rows that are in every bucket are partners in each of them."""
        of_left, of_right = self.keys(left), self.keys(right)
        if of_left is None and of_right is None:
            return None
        if of_right is None:
            return of_left
        if of_left is None:
            if not outer:
                return of_right
            self.none("a static side would be answered in every bucket")
            of_left = self._own(left)
        else:
            self._strict(left, right, shared, _apart(left, right, shared))
        ways: list[tuple[str, list[tuple[Node, Origin]]]] = []
        if not outer:
            ways += [(name, [(left, ()), (right, at)]) for name, at in of_right.items()]
        ways += [(name, [(left, at), (right, ())]) for name, at in of_left.items()]
        ways += [(n, [(left, of_left[n]), (right, of_right[n])]) for n in of_left if n in of_right and n in shared]
        return self.combined(ways)

    def _strict(self, left: Node, right: Node, shared: frozenset[str] | None, why: str) -> None:
        """Tell why two sides have no key together, if they have none."""
        of_left, of_right = self.keys(left) or {}, self.keys(right) or {}
        both = (n for n in of_left if n in of_right and (shared is None or n in shared))
        found = self.combined((n, [(left, of_left[n]), (right, of_right[n])]) for n in both)
        if not any(self.is_whole(at, left, right) for at in found.values()):
            self.none(why)

    def is_whole(self, origin: Origin, *sides: Node) -> bool:
        """Whether all scans below some nodes bind a key."""
        places = frozenset[Place]().union(*map(self.places, sides))
        return dict(origin).keys() >= {place for place in places if place[0] != OWNED}

    def combined(self, ways: Iterable[tuple[str, Sequence[tuple[Node, Origin]]]]) -> Keys:
        """By name the last of the ways that can be gone: no place has two variables, or one for one side and none for the
        other. A row would belong to several buckets."""
        found: dict[str, Origin] = {}
        for name, sides in ways:
            merged = tuple(dict.fromkeys(entry for _, origin in sides for entry in origin))
            every = dict(merged)
            fits = all(every.keys() & self.places(side) <= dict(origin).keys() for side, origin in sides)
            if fits and len(every) == len(merged):
                found[name] = merged
        return found

    def places(self, node: Node) -> frozenset[Place]:
        """The places that a node reads: those of its scans that bind variables, and the nodes whose rows can be owned."""
        if id(node) not in self._places:
            mine = frozenset({(OWNED, id(node))}).union(*map(self.places, node.inputs))
            if isinstance(node, Received) and node.schema.variables:
                patterns = len(node.below.patterns) if isinstance(node.below, OccurrenceScan) else 1
                mine |= {(node.place, pattern) for pattern in range(patterns)}
            if isinstance(node, Recalled):
                mine |= {(RECALLED, 0)}
            if isinstance(node, TripleStar):
                bits = range(node.first, node.first + len(node.triples))
                mine = frozenset(place for place in mine if place[0] == OWNED or place[1] in bits)
            self._places[id(node)] = mine
        return self._places[id(node)]

    def _star(self, node: TripleStar) -> Keys | None:
        """A variable at the same place in every pattern is a key; any other is one of the patterns that have it. A match by
        static triples in all of those is found in every bucket, and kept in one."""
        keys = self.keys(node.input)
        if not keys:
            self.none("no variable stands at the same place in every triple pattern")
        found = dict(keys or {})
        (received,) = (each for each in nodes.nodes(node.input) if isinstance(each, Received))
        scan = received.below
        if not isinstance(scan, OccurrenceScan) or scan.counted:
            return found
        for name in node.bound:
            at: list[tuple[Place, str]] = []
            for bit, triple in enumerate(node.triples, node.first):
                where = [
                    i for i, term in enumerate((triple.subject, triple.predicate, triple.object)) if term == Variable(name)
                ]
                at += [((received.place, bit), scan.terms[where[0]])] if where else []
            if at and name not in found:
                found[name] = (*at, ((OWNED, id(node)), name))
        return found

    def _report(self, node: Report) -> Keys | None:
        if node.order or node.offset or node.limit is not None:
            return self.none("ORDER BY and LIMIT look at all rows of an evaluation")
        if any(received.schema.variables for received in _received(node.items)):
            return self.none("its evaluations depend on what the events say")
        if node.output is Output.ALL:
            return self.keys(node.input)
        return self.shown(self.keys(node.input), _EQUAL)


def _offered(node: Received) -> Keys:
    """What rows can be divided by: any variable that all of them bind; of occurrences, which match several patterns, the
    one that stands at the same place in all."""
    scan, schema = node.below, node.schema
    if isinstance(scan, OccurrenceScan):
        hub = scan.hub if not scan.counted else None
        return {} if hub is None else {hub: tuple(((node.place, bit), hub) for bit in range(len(scan.patterns)))}
    if ASSERTIONS in schema.variables:
        visible = (name for name in schema.variables if name in schema.certain and not name.startswith("_:"))
        return {name: (((node.place, 0), name),) for name in (ASSERTIONS, START, END, *visible)}
    return {name: (((node.place, 0), name),) for name in schema.variables if name in schema.certain}


def owns(origin: Origin) -> bool:
    """Whether it needs rows that are in every bucket to be cut down to its own."""
    return any(exchange == OWNED for (exchange, _), _ in origin)


def _received(node: Node) -> Iterator[Received]:
    return (each for each in nodes.nodes(node) if isinstance(each, Received))


def _projected(keys: Keys | None, variables: tuple[str, ...]) -> Keys | None:
    if keys is None:
        return None
    seen = {*variables, START, END}
    return {name if name in seen or is_hidden(name) else f"{_HIDDEN}{name}": origin for name, origin in keys.items()}


def _renamed(keys: Keys | None, names: Mapping[str, str]) -> Keys | None:
    return None if keys is None else {names.get(name, name): origin for name, origin in keys.items()}


_EQUAL = "equal rows of different buckets are one row of the answer"
_HIDDEN = "\0"
_SAID = {START: "the start", END: "the end", ASSERTIONS: "the assertions"}


def is_hidden(name: str) -> bool:
    """Whether a projection has hidden a key."""
    return name.startswith(_HIDDEN)


def spelt(name: str) -> str:
    """A variable as the query calls it; what is none in words."""
    if name in _SAID:
        return _SAID[name]
    return name.removeprefix(_HIDDEN).removeprefix("_:")


def _apart(left: Node, right: Node, shared: frozenset[str]) -> str:
    if shared:
        return f"{_listed(shared)} comes from different scans on the two sides of a join"
    return "two sides of a join share no variable that both bind"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(f"?{spelt(name)}" for name in sorted(names))
