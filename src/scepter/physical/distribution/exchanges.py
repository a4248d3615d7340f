"""A plan in stages one behind another: cut wherever an operator needs its rows together that its input has apart.

One exchange is enough where all rows of an answer agree in a key, or meet in a grid (`stages`). Where they do not, the greatest
parts of the plan that can be divided are stages of their own, each in buckets of its own key. Their rows cross another exchange
to the operators that lost it: DISTINCT of rows that hide their key, an aggregate over all rows, ORDER BY, ASK. These may have
another key, or the last of them run in one bucket, with nothing else in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scepter.physical.distribution.cutting import ONE_BY_ONE, STATIC, Again, Cut, FirstAnswer, Owned, cut
from scepter.physical.distribution.partitioning import PartitionKind, asks, is_one_answer, partitioning
from scepter.physical.distribution.stages import Dimension, Stages, Undivided, divided_by, stages
from scepter.physical.nodes import nodes
from scepter.physical.nodes.derive_nodes import Derive, DerivedPath, Picked, Recalled
from scepter.physical.nodes.instant_nodes import Asked, Paired, Remembered, Tracked
from scepter.physical.nodes.keys import spelt
from scepter.physical.nodes.match_nodes import EventMatch
from scepter.physical.nodes.nodes import ASSERTIONS, END, START, Node, Received
from scepter.physical.nodes.sequence_nodes import Refused, Sequence
from scepter.physical.nodes.star_nodes import AskedNow, LiveGraph, MatchedOnce, Occurrences
from scepter.physical.nodes.time_nodes import Answers, GapJoin, Once, TimeJoin, TimeValues
from scepter.physical.nodes.window_nodes import Coalesce, ValidityJoin, ValidityOuterJoin
from scepter.physical.plan import UnitPlan

_LIGHT: Final = (
    Received, *ONE_BY_ONE, *STATIC, Again, Owned, Once, MatchedOnce, Coalesce, Occurrences, Answers, TimeValues, nodes.Extend,
    nodes.Union,
)  # fmt: skip
"""Operators that alone are no reason for a stage: one more exchange costs as much as they do."""
_CLOSE: Final = (Tracked, Paired, Remembered, Asked, AskedNow, LiveGraph, Derive, Picked, Recalled, DerivedPath)
"""Operators that share more with each other than rows, such as what a policy has consumed: they are in one stage."""


_JOINS: Final = (TimeJoin, GapJoin, ValidityJoin, ValidityOuterJoin, EventMatch, nodes.Union)


@dataclass(frozen=True)
class Stage:
    """Operators in buckets of one key, and where their rows come from."""

    stages: Stages
    sources: tuple[int | None, ...]
    """Of each exchange the stage that makes its rows; None: it is where events are read."""


def unit_exchanges(unit: UnitPlan) -> tuple[Stage, ...]:
    """The stages of a unit on live input, in order, the last of which answers; none where all of it is one, which `unit_stages`
    or the partitioning of its sequence tells."""
    root = unit.root
    if isinstance(root, Refused):
        return ()
    if isinstance(root, Sequence):
        return _of_sequence(unit, root)
    parts, found = cut(root), stages(root)
    if isinstance(parts, str) or isinstance(found, Undivided) or ASSERTIONS in root.schema.variables:
        return ()
    merges = found.merges or asks(unit)
    if not (found.why or merges):
        return ()
    above = FirstAnswer(parts.above, parts.above.schema.variables) if asks(unit) else parts.above
    made = _chained(Cut(parts.below, above, parts.told))
    return made if merges or len(made) > 1 else ()


def _of_sequence(unit: UnitPlan, root: Sequence) -> tuple[Stage, ...]:
    """Matches by their key, and what is one answer of them behind it."""
    kind, merges = partitioning(root.plan).kind, partitioning(root.plan).merges
    by_first_event = kind in (PartitionKind.SLICES, PartitionKind.GRID)
    if root.flattened is not None or kind is PartitionKind.ONE or not (merges or (by_first_event and is_one_answer(root.plan))):
        return ()
    received = Received(root.schema, 0, root, 0)
    if asks(unit):
        last = _stage(FirstAnswer(received, root.schema.variables))
    else:  # equal matches have the same interval
        key = Dimension((((START, END),),), (spelt(START), spelt(END)))
        last = Stage(Stages((root,), Once(received), (key,)), (0,))
    return Stage(Stages(root.inputs, root), (None,) * len(root.inputs)), last


def _chained(parts: Cut) -> tuple[Stage, ...]:
    """Stage by stage the greatest parts that can be divided, until what is left has a key, or no such part. Where it has a
    grid, rows that are joined meet there; only what takes the rows of one part has a stage of its own behind it."""
    made: list[Stage] = []
    above = parts.above
    while (rest := _stage(above).stages).why and (found := list(_greatest(above, keyed=bool(rest.dimensions)))):
        received = {id(node): Received(node.schema, 0, node, len(made) + place) for place, node in enumerate(found)}
        behind = _exchanged(above, received)
        if rest.dimensions and any(isinstance(each, _JOINS) for each in nodes.nodes(behind)):
            break
        above = behind
        made += [_stage(node) for node in found]
    made.append(_stage(above))
    first = next(place for place, stage in enumerate(made) if None in stage.sources)
    told = replace(made[first], stages=replace(made[first].stages, told=parts.told))
    return (*made[:first], told, *made[first + 1 :])


def _stage(root: Node) -> Stage:
    """What is between exchanges, which are counted anew."""
    leaves = {id(node): node for node in nodes.nodes(root) if isinstance(node, Received)}
    own = {key: replace(leaf, place=place) for place, (key, leaf) in enumerate(leaves.items())}
    parts = Cut(tuple(leaf.below for leaf in leaves.values()), _exchanged(root, own))
    return Stage(divided_by(parts, strictly=True), tuple(leaf.stage for leaf in leaves.values()))


def _exchanged(root: Node, by: Mapping[int, Node]) -> Node:
    """A plan with other nodes in the place of some."""
    made: dict[int, Node] = dict(by)

    def changed(node: Node) -> Node:
        if id(node) not in made:
            made[id(node)] = node.over(changed)
        return made[id(node)]

    return changed(root)


def _greatest(root: Node, *, keyed: bool) -> Iterator[Node]:
    """The greatest parts below a node that are worth a stage of their own and can be divided; by a key, if they are to be."""
    close = {id(node) for node in nodes.nodes(root) if isinstance(node, _CLOSE) or _tells_occurrences(node)}
    seen: set[int] = set()

    def below(node: Node) -> Iterator[Node]:
        for each in node.inputs:
            if id(each) not in seen:
                seen.add(id(each))
                yield from [each] if _is_apart(each, close, keyed=keyed) else below(each)

    return below(root)


def _tells_occurrences(node: Node) -> bool:
    """Whether it compares what rows were made of, which has other numbers behind an exchange."""
    return isinstance(node, MatchedOnce) and node.occurrences


def _is_apart(node: Node, close: set[int], *, keyed: bool) -> bool:
    inside = list(nodes.nodes(node))
    if all(isinstance(each, _LIGHT) for each in inside) or not close <= {id(each) for each in inside}:
        return False
    found = _stage(node).stages
    if not found.dimensions or (keyed and found.why):
        return False
    return not any(isinstance(each, Owned) and _is_static(each) for each in nodes.nodes(found.above))


def _is_static(node: Node) -> bool:
    """Whether its rows are there without any event: in a bucket that no event has come to they would be missed."""
    return not any(isinstance(each, Received) for each in nodes.nodes(node))
