"""RSEP-QL from its rules (spec/30-rsep-ql): every window, mapping and answer computed anew at every evaluation instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from naive.graphs import template
from scepter.algebra.query import Ask, Construct
from scepter.algebra.scope import in_scope
from scepter.algebra.windows import (
    CountWindow,
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Landmark,
    Latest,
    Policy,
    RelationToStream,
    Report,
    StreamWindow,
    TimeWindow,
    Version,
    WindowedQuery,
    hidden_names,
    scans,
    window_graph,
)
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import solutions
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple
from scepter.timeline import MAX_INSTANT

Mu: TypeAlias = frozenset[tuple[str, Term]]
Mapped: TypeAlias = tuple[Mu, int, int]
Used: TypeAlias = frozenset[tuple[IRI, int]]
"""Windows and items that a mapping would consume."""
Found: TypeAlias = dict[Mapped, Used]


@dataclass(frozen=True)
class Event:
    """An item of a stream."""

    stream: str
    start: int
    end: int
    triples: tuple[Triple, ...]


@dataclass(frozen=True)
class Output:
    """What one evaluation gave to the output."""

    start: int
    end: int
    row: Mu
    graph: frozenset[Triple] | None = None


@dataclass
class _Run:
    query: WindowedQuery
    events: Sequence[Event]
    policy: Policy
    background: Mapping[str, frozenset[Triple]]
    consumed: set[tuple[IRI, int]]

    # ---- rules 1 and 2

    def instants(self, given: Iterable[int] | None, passed: int) -> list[int]:
        if given is not None:
            return sorted(set(given))
        mine = {window.stream.value for window in self.query.windows if not isinstance(window.extent, Version)}
        times = sorted({e.end for e in self.events if e.stream in mine})
        if self.query.report is Report.CONTENT_CHANGE or not times:
            return times
        step = min(_step(w.extent) for w in self.query.windows if isinstance(w.extent, TimeWindow))
        found: list[int] = []
        t = times[0]
        while not found or found[-1] < times[-1] or t <= passed:
            if t % step == 0:
                found.append(t)
            t += 1
        return found

    def inside(self, name: IRI, t: int) -> list[int]:
        (window,) = (w for w in self.query.windows if w.name == name)
        mine = [i for i, e in enumerate(self.events) if e.stream == window.stream.value]
        if isinstance(window.extent, Version):
            last = max((self.events[i].end for i in mine if self.events[i].end <= t), default=None)
            return [i for i in mine if self.events[i].end == last]
        if isinstance(window.extent, CountWindow):
            return self._counted(window.extent, mine, t)
        return [i for i in mine if _is_inside(window, self.events[i].end, t)]

    def _counted(self, window: CountWindow, mine: list[int], t: int) -> list[int]:
        """Each is numbered by the last one of its instant; what is numbered up to the last multiple of the step, less n."""

        def number(time: int) -> int:
            return sum(len(self.events[i].triples) if window.triples else 1 for i in mine if self.events[i].end <= time)

        moved = number(t) // window.step * window.step
        return [i for i in mine if moved - window.count < number(self.events[i].end) <= moved and self.events[i].end <= t]

    # ---- rules 4 to 8

    def mapped(self, pattern: EventPattern, t: int, given: Mu, before: float, consuming: bool) -> Found:
        match pattern:
            case ItemScan():
                return self.scanned(pattern, t, given, before, consuming)
            case Earliest(operand):
                return _first(self.mapped(operand, t, given, before, consuming))
            case Latest(operand):
                return _last(self.mapped(operand, t, given, before, consuming))
            case Followed():
                return self.followed(pattern, t, given, before, consuming)
            case _:
                assert_never(pattern)

    def scanned(self, scan: ItemScan, t: int, given: Mu, before: float, consuming: bool) -> Found:
        found: Found = {}
        for i in self.inside(scan.window, t):
            event = self.events[i]
            if (scan.window, i) in self.consumed or event.end >= before:
                continue
            for row in solutions(scan.pattern, Graph(self.item(i)), self.dataset(t)):
                mu = frozenset((name, term) for name, term in row.items() if not name.startswith("_:"))
                if _compatible(mu, given):
                    key = (mu, event.start, event.end)
                    used = frozenset({(scan.window, i)}) if consuming else frozenset()
                    found[key] = found.get(key, frozenset()) | used
        return found

    def followed(self, pattern: Followed, t: int, given: Mu, before: float, consuming: bool) -> Found:
        policy = pattern.policy or self.policy
        under = consuming or policy in (Policy.CHRONOLOGICAL, Policy.RECENT)
        rights = self.mapped(pattern.right, t, given, before, under)
        pairs: list[tuple[Mapped, Used, Mapped, Used]] = []

        def add(left: Found, right: Mapped) -> None:
            pairs.extend((mapped, used, right, rights[right]) for mapped, used in left.items())

        def partners(right: Mapped) -> Found:
            return self.mapped(pattern.left, t, given | right[0], right[1], under)

        if policy is Policy.UNRESTRICTED:
            for right in rights:
                add(partners(right), right)
        elif policy is Policy.NAIVE:
            for right in _last(rights):
                lefts = _last(self.mapped(pattern.left, t, given | right[0], before, under))
                add({m: used for m, used in lefts.items() if _order(m) < _order(right)}, right)
        else:
            shared = _variables(pattern.left) & _variables(pattern.right)
            able = [right for right in rights if partners(right)]
            for right in able:
                rivals = [r for r in able if _restricted(r[0], shared) == _restricted(right[0], shared)]
                if policy is Policy.CHRONOLOGICAL and not any(_order(r) < _order(right) for r in rivals):
                    add(_first(partners(right)), right)
                if policy is Policy.RECENT and not any(_order(r) > _order(right) for r in rivals):
                    add(_last(partners(right)), right)
        found: Found = {}
        for (mu1, t1, _), used1, (mu2, _, t4), used2 in pairs:
            key = (mu1 | mu2, t1, t4)
            found[key] = found.get(key, frozenset()) | used1 | used2
        return found

    # ---- rules 3, 10 and 11

    def item(self, i: int) -> list[Triple]:
        """An item's triples; its blank nodes are its own."""
        return [
            Triple(*(BlankNode(f"{i}x{x.label}") if isinstance(x, BlankNode) else x for x in t)) for t in self.events[i].triples
        ]

    def dataset(self, t: int) -> Dataset:
        default = set(self.background.get("", frozenset()))
        named = {IRI(name): Graph(triples) for name, triples in self.background.items() if name}
        for window in self.query.windows:
            triples = [triple for i in self.inside(window.name, t) for triple in self.item(i)]
            named[window_graph(window.name)] = Graph(triples)
            if isinstance(window.extent, Version) and window.extent.default:
                default |= set(triples)
        return Dataset(Graph(default), named)

    def answer(self, t: int) -> Counter[tuple[Mu, tuple[int, int] | None]]:
        matched = [self.mapped(pattern, t, frozenset(), float("inf"), False) for pattern in self.query.events]
        rows = []
        for number, found in enumerate(matched):
            which, start, end = hidden_names(number)
            rows.append(
                [
                    {**dict(mu), which: _integer(i), start: _integer(t1), end: _integer(t2)}
                    for i, (mu, t1, t2) in enumerate(found)
                ]
            )
        dataset = self.dataset(t)
        answer: Counter[tuple[Mu, tuple[int, int] | None]] = Counter()
        for row in solutions(self.query.pattern, dataset.default, dataset, Context(mappings=rows)):
            starts, ends = ([t for t in _times(row, which) if abs(t) < MAX_INSTANT] for which in (".start", ".end"))
            visible = frozenset((n, v) for n, v in row.items() if not n.startswith("_:"))
            answer[visible, (min(starts), max(ends)) if starts else None] += 1
        self.consumed |= {used for found in matched for each in found.values() for used in each}  # rule 9
        return answer


def evaluate(
    query: WindowedQuery,
    events: Sequence[Event],
    *,
    policy: str = "unrestricted",
    evaluate_at: Iterable[int] | None = None,
    background: Mapping[str, frozenset[Triple]] | None = None,
    passed: int = 0,
) -> list[Output]:
    """All that the query puts out, over the whole of some streams whose times count time units. Windows close with the last
    event of the streams, or go on to do so while time is known to have `passed`."""
    run = _Run(query, events, Policy(policy), background or {}, set())
    before: Counter[tuple[Mu, tuple[int, int] | None]] = Counter()
    found: list[Output] = []
    for t in run.instants(evaluate_at, passed):
        answer = run.answer(t)
        match query.output:
            case RelationToStream.ISTREAM:
                shown = answer - before
            case RelationToStream.RSTREAM:
                shown = answer
            case RelationToStream.DSTREAM:
                shown = before - answer
        before = answer
        outputs = [_output(query, row, interval or (t, t)) for row, interval in shown.elements()]
        if isinstance(query.result, Ask) and outputs:
            return [min(outputs, key=lambda o: (o.end, o.start))]
        found += outputs
    return found


def _output(query: WindowedQuery, row: Mu, interval: tuple[int, int]) -> Output:
    if isinstance(query.result, Construct):
        return Output(*interval, frozenset(), frozenset(template(query.result.template, dict(row), "t")))
    return Output(*interval, frozenset() if isinstance(query.result, Ask) else row)


def _step(extent: TimeWindow) -> int:
    return 1 if extent.step is None else extent.step.amount


def _is_inside(window: StreamWindow, time: int, t: int) -> bool:
    assert not isinstance(window.extent, CountWindow)
    if isinstance(window.extent, Landmark):
        return window.extent.instant <= time <= t
    assert isinstance(window.extent, TimeWindow)
    moved = t // _step(window.extent) * _step(window.extent)
    return moved - window.extent.width.amount < time <= moved


def _order(mapped: Mapped) -> tuple[int, int]:
    return mapped[2], mapped[1]


def _first(found: Found) -> Found:
    return {m: used for m, used in found.items() if not any(_order(other) < _order(m) for other in found)}


def _last(found: Found) -> Found:
    return {m: used for m, used in found.items() if not any(_order(other) > _order(m) for other in found)}


def _compatible(mu: Mu, other: Mu) -> bool:
    known = dict(other)
    return all(known.get(name, term) == term for name, term in mu)


def _restricted(mu: Mu, names: frozenset[str]) -> Mu:
    return frozenset((name, term) for name, term in mu if name in names)


def _variables(pattern: EventPattern) -> frozenset[str]:
    return frozenset(name for scan in scans(pattern) for name in in_scope(scan.pattern) if not name.startswith("_:"))


def _integer(number: int) -> Literal:
    return Literal(str(number), f"{XSD}integer")


def _times(row: Mapping[str, Term], ending: str) -> list[int]:
    named = (term for name, term in row.items() if name.startswith("_:match") and name.endswith(ending))
    return [int(term.lexical) for term in named if isinstance(term, Literal)]
