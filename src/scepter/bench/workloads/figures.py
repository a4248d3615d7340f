"""The figures of the papers, each under its own name: the same axes, queries of the same shape, data of the same shape.

A figure has lines; what a line measures is a generator of points, most of them shared with the workloads that have goals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from scepter.bench.contenders.local import COSTS, UNINDEXED
from scepter.bench.model import Point, Room, Shown, Workload
from scepter.bench.shapes import delivery
from scepter.bench.shapes.offers import STREAM as OFFERS
from scepter.bench.shapes.offers import Offers
from scepter.bench.workloads import epsparql, sparkwave, spaseq_background, spaseq_clauses, spaseq_kleene, use_cases

Points: TypeAlias = Callable[[Room], Iterator[Point]]

WAY_AROUND: Final = f"""PREFIX : <{delivery.NS}>
SELECT ?agent ?stop ?via WHERE {{
  {{ ?agent :arrivesAt ?here }} SEQ {{ ?road :closedFor ?agent }} SEQ {{ ?agent :asksFor ?stop }}
  ?road :from ?here ; :to ?stop . ?here :leadsTo ?via . ?via :leadsTo+ ?stop .
  FILTER (getDURATION() < %d) }}"""
TSUNAMI: Final = f"""PREFIX : <{delivery.NS}>
CONSTRUCT {{ ?buoy :expects ?level }} WHERE {{
  {{ ?buoy :mean ?h3 }} SEQ {{ ?buoy :mean ?h2 }} SEQ {{ ?buoy :mean ?h1 }} SEQ {{ ?buoy :mean ?h0 }}
  FILTER (getDURATION() <= 10800)
  BIND (1.16818457031250 * ?h0 - 0.28197558593750 * ?h1 + 0.14689746093750 * ?h2 - 0.03310644531250 * ?h3 AS ?level) }}
SELECT ?buoy ?off WHERE {{
  {{ ?buoy :expects ?expected }} SEQ {{ ?buoy :level ?level }}
  BIND (ROUND(ABS(?level - ?expected)) AS ?off) FILTER (getDURATION() <= 11115 && ?off > 30) }}"""
READINGS: Final = 44_310
"""As many as the paper reports."""


def drawn(lines: Mapping[str, Points]) -> Points:
    """The points of a figure, line by line."""

    def points(room: Room) -> Iterator[Point]:
        for number, (line, of) in enumerate(lines.items()):
            folder = room.folder / f"line{number}"
            folder.mkdir(exist_ok=True)
            for point in of(replace(room, folder=folder)):
                ours = tuple(name for name in point.contenders if name in ("local", "push", "followed"))
                yield replace(point, line=line, contenders=ours, yardsticks={})

    return points


def told(of: Points) -> Points:
    """The same points, whose runs tell what matching events and joining them cost."""
    return lambda room: (replace(point, options={**point.options, COSTS: 1}) for point in of(room))


def unindexed(of: Points) -> Points:
    """The same points, whose runs look at every row of the next step's table."""
    return lambda room: (replace(point, options={**point.options, UNINDEXED: 1}) for point in of(room))


def followed(of: Points) -> Points:
    """The same points, live, whose runs tell what memory they hold on the way."""
    return lambda room: (replace(point, contenders=("followed",)) for point in of(room))


def members_pushed(room: Room) -> Iterator[Point]:
    """Members of a class above 40,080 others, one triple at a time."""
    for point in epsparql.members(room, 200_000, graphs=True):
        # the first push sets the engine up, which a figure of delays after warm-up does not show
        ahead = max(point.events // 5, point.events - room.size(2_000, 200))
        yield replace(point, contenders=("push",), options={"ahead": ahead})


def deliveries(room: Room, agents: int) -> Iterator[Point]:
    """Agents that visit more and more stops, one event at a time."""
    for stops in (5, 10, 20):
        tours = delivery.Deliveries.drawn(agents, stops)
        events = sum(1 for _ in tours.events())
        yield Point(
            at=stops,
            query=WAY_AROUND % (3 * agents),
            language="ep-sparql",
            streams={delivery.STREAM: room.file(f"agents{stops}.nq", tours.write)},
            events=events,
            triples=events,
            answers=tours.answers,
            background={"": room.file("map.nt", delivery.write_map)},
            contenders=("push",),
        )


def tsunamis(room: Room) -> Iterator[Point]:
    """Three waves in more and more hours."""
    for readings in (room.size(READINGS // 4, 500), room.size(READINGS, 1_000)):
        waves = (readings // 2, readings // 2 + 1, readings // 2 + 2)
        write = partial(delivery.write_readings, readings=readings, waves=waves)
        yield Point(
            at=readings,
            query=TSUNAMI,
            language="ep-sparql",
            streams={delivery.BUOYS: room.file(f"readings{readings}.nt", write)},
            events=2 * readings,
            triples=2 * readings,
            answers=len(waves),
            contenders=("local",),
        )


def cards_known(room: Room) -> Iterator[Point]:
    """The cards' query over more and more that is known of cards."""
    given = use_cases.point(room, "card fraud", 30, room.size(100_000, 12_000), 0)
    ((graph, known),) = given.background.items()
    for triples in (10_000, 100_000, room.size(1_000_000, 200_000)):
        static = room.file(f"holders{triples}.nt", partial(_with_more, known=known, triples=triples))
        yield replace(given, at=triples, background={graph: static})


def _with_more(path: Path, known: str, triples: int) -> None:
    """What is known, and of cards that the stream does not show."""
    import pyoxigraph

    lines = [f"{quad.triple} ." for quad in pyoxigraph.parse(path=known)]
    more = (f'<http://creditcard.org/other{n}> <http://creditcard.org/cardHolder> "Holder {n}" .' for n in range(triples))
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
        out.writelines(f"{line}\n" for line in (next(more) for _ in range(max(0, triples - len(lines)))))


def offers(room: Room, asserted: bool, points: Points) -> Iterator[Point]:
    """Sparkwave's points with reasoning, or with the types asserted and no schema."""
    for point in points(room):
        if not asserted:
            yield point
            continue
        drawn_offers = Offers.drawn(point.events)
        stream = room.file("asserted.nq", partial(drawn_offers.write, asserted=True))
        yield replace(point, streams={OFFERS: stream}, ontology=None)


def _both(label: str, points: Points) -> dict[str, Points]:
    return {
        f"{label}with reasoning": partial(offers, asserted=False, points=points),
        f"{label}without reasoning": partial(offers, asserted=True, points=points),
    }


def _patterns() -> dict[str, Points]:
    """Sparkwave's three patterns, continuous and evaluated each second."""
    found: dict[str, Points] = {}
    for n in sparkwave.PATTERNS:
        found |= _both(f"pattern {n}, ", partial(sparkwave.windows, pattern=n))
        found[f"pattern {n}, each second"] = partial(sparkwave.periodic, pattern=n)
    return found


_CASES: Final = {
    "smart home, Q1": "smart grid",
    "cards, Q2": "card fraud",
    "traffic, Q5": "traffic",
    "trajectories, Q6": "trajectories",
}
CASES: Final[dict[str, Points]] = {
    **{
        f"{called}, {strategy}": partial(use_cases.by_strategy, case=case, strategy=operator)
        for called, case in _CASES.items()
        for operator, strategy in use_cases.STRATEGIES.items()
    },
    "stocks, Q3, skip-till-next": partial(spaseq_clauses.over_windows, strict=False),
    "stocks, Q3, strict contiguity": partial(spaseq_clauses.over_windows, strict=True),
    "stocks, Q3, skip-till-any": spaseq_clauses.any_over_windows,
}
PATTERN_1: Final = partial(sparkwave.windows, pattern=1)
KLEENE: Final = {name: told(of) for name, of in spaseq_kleene.KINDS.items()}
DELAY, PEAK, CPU, RATE, COST = Shown.DELAY, Shown.MEMORY, Shown.CPU, Shown.THROUGHPUT, Shown.COSTS
_FIGURES: Final[tuple[tuple[str, str, str, tuple[Shown, ...], dict[str, Points]], ...]] = (
    ("ep-sparql-figure-2", "EP-SPARQL, test 2: member of a class above 40,080, eight levels; delay of one triple", "triples",
     (DELAY,), {"": members_pushed}),
    ("ep-sparql-figure-3a", "EP-SPARQL, test 3: delivery with roads that close; delay of one event", "stops of an agent",
     (DELAY,), {f"{n} agents" if n > 1 else "1 agent": partial(deliveries, agents=n) for n in (1, 10)}),
    ("ep-sparql-figure-3b", "EP-SPARQL, test 3: delivery with roads that close; memory", "stops of an agent",
     (PEAK,), {f"{n} agents" if n > 1 else "1 agent": partial(deliveries, agents=n) for n in (1, 10)}),
    ("ep-sparql-figure-4", "EP-SPARQL, test 3: tsunami, 44,310 hourly readings with three waves", "readings",
     (RATE,), {"": tsunamis}),
    ("spaseq-figure-15", "SPAseq, question 1: CPU time of the use cases", "window, min", (CPU,), CASES),
    ("spaseq-figure-16", "SPAseq, question 1: throughput of the use cases", "window, min", (RATE,), CASES),
    ("spaseq-figure-16-events", "SPAseq, question 1: throughput of Q2 in windows that count events", "window, events", (RATE,),
     {name: partial(use_cases.counted, strategy=operator) for operator, name in use_cases.STRATEGIES.items()}),
    ("spaseq-figure-17", "SPAseq, question 1: more sequence clauses, window of 40 minutes", "sequence clauses", (CPU,),
     {"skip-till-next": partial(spaseq_clauses.points, strict=False), "strict": partial(spaseq_clauses.points, strict=True)}),
    ("spaseq-figure-18", "SPAseq, question 2: background of 10,000 to a million triples", "static triples", (CPU,),
     {"stocks": spaseq_background.points, "cards": cards_known}),
    ("spaseq-figure-19", "SPAseq, question 3: parsing, GPMs and automaton, Q3 by skip-till-next", "window, min", (COST,),
     {"": told(CASES["stocks, Q3, skip-till-next"])}),
    ("spaseq-figure-20", "SPAseq, question 3: GPMs and automaton for Kleene+ and a plain sequence", "window, s", (COST,),
     KLEENE),
    ("spaseq-figure-21", "SPAseq, question 4: runs indexed or not, smart home, Q1 by skip-till-next", "window, min", (CPU,),
     {"indexed": CASES["smart home, Q1, skip-till-next"], "not indexed": unindexed(CASES["smart home, Q1, skip-till-next"])}),
    ("spaseq-figure-22", "SPAseq, question 4: a conjunction's GPMs, which lazy evaluation would save, and its joins",
     "window, min", (COST,), {"": told(CASES["traffic, Q5, skip-till-next"])}),
    ("sparkwave-figure-7", "Sparkwave: throughput of the three patterns, 40 subclasses", "window, s", (RATE,), _patterns()),
    ("sparkwave-figure-7-schema", "Sparkwave: 329 and 22,527 classes, 4 to 1,608 of them below the target", "subclasses",
     (RATE,), {f"{n:,} classes": partial(sparkwave.schemas, classes=n) for n in (sparkwave.SMALL, sparkwave.LARGE)}),
    ("sparkwave-figure-8", "Sparkwave: memory for pattern 1", "window, s", (PEAK, Shown.MEMORY_OVER_TIME),
     {line: followed(of) for line, of in _both("", PATTERN_1).items()}),
    ("sparkwave-figure-9", "Sparkwave: throughput of patterns 2 and 3 over static data, window of 1 s", "static triples",
     (RATE,),
     {k: v for n in (2, 3) for k, v in _both(f"pattern {n}, ", partial(sparkwave.statics, pattern=n)).items()}),
)  # fmt: skip
WORKLOADS: Final = tuple(
    Workload(name, follows, axis, drawn(lines), shows=shows) for name, follows, axis, shows, lines in _FIGURES
)
