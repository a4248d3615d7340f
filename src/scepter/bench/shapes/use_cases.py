"""The five use cases of the SPAseq paper on the datasets of `scepter generate`: plain loops that count what their queries find.

Windows are tumbling except that of the trajectories; one event at each time, except on the roads. Where a strategy is given, it
stands between all atoms: `,` strict contiguity, `;` skip till next, `:` skip till any.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise, takewhile
from typing import Final, TypeAlias

from scepter.bench.shapes.read import rows

Row: TypeAlias = tuple[int, dict[str, str]]
Streams: TypeAlias = Mapping[str, str]
"""Files by stream."""


def _of(streams: Streams, ending: str) -> list[Row]:
    return list(rows(next(path for iri, path in streams.items() if iri.endswith(ending))))


def smart_grid(streams: Streams, window: int, strategy: str = ";") -> int:
    """A; B+; C: fuel above 25, then light above 40 and wind above 3 at the same place, then cheaper solar power."""
    weather = _of(streams, "weather")
    good = [int(row["light"]) > 40 and int(row["windsp"]) > 3 for _, row in weather]
    times = sorted(t for stream in streams for t, _ in _of(streams, stream))
    follows = dict(pairwise(times))
    at = {t: i for i, (t, _) in enumerate(weather)}
    by_place: dict[str, list[int]] = defaultdict(list)
    for i, (_, row) in enumerate(weather):
        if good[i]:
            by_place[row["loc"]].append(i)
    stored: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for t, row in _of(streams, "storage"):
        stored[row["loc"]].append((t, int(row["fare"])))
    found = 0
    for t, row in _of(streams, "main"):
        place, fuel, ends = row["loc"], int(row["fare"]), (t // window + 1) * window
        if fuel <= 25:
            continue
        first = bisect_right(by_place[place], t, key=lambda i: weather[i][0])
        begins = by_place[place][first : first + 1] if strategy != ":" else by_place[place][first:]
        if strategy == "," and begins and follows.get(t) != weather[begins[0]][0]:
            continue
        for begin in begins:
            if weather[begin][0] >= ends:
                break
            sky: int | None = begin
            while sky is not None and weather[sky][0] < ends:
                last = weather[sky][0]
                after = bisect_right(stored[place], last, key=lambda each: each[0])
                until = bisect_left(stored[place], ends, key=lambda each: each[0])
                cheaper = [s for s, solar in stored[place][after:until] if solar < fuel]
                found += _taken(cheaper, strategy, follows.get(last))
                following = at.get(follows.get(last, -1))  # the very next event, if it is about the weather
                sky = following if following is not None and good[following] and weather[following][1]["loc"] == place else None
    return found


def _taken(times: list[int], strategy: str, following: int | None) -> int:
    """How many of the accepted times a strategy takes; `following` is the time of the very next event."""
    match strategy:
        case ":":
            return len(times)
        case ";":
            return min(1, len(times))
        case _:
            return int(bool(times) and times[0] == following)


def trajectories(streams: Streams, window: int, strategy: str = ",") -> int:
    """A, B+, C per vessel: out of the harbour, faster on the same course, stopped in the fishing area."""
    vessels: dict[str, list[Row]] = defaultdict(list)
    for t, row in _of(streams, "boats"):
        vessels[row[""]].append((t, row))
    found = 0
    for reports in vessels.values():
        for i, (t, row) in enumerate(reports):
            if row["location"] != "harbour" or int(row["speed"]) <= 0:
                continue
            later = reports[i + 1 : bisect_right(reports, t + window, key=lambda report: report[0])]
            sails = [_sails_on(row, report) for _, report in later]
            stops = [s for s, end in later if int(end["speed"]) == 0 and end["location"] == "fishingarea"]
            begins = [k for k, on in enumerate(sails) if on]
            if strategy != ":":
                begins = [k for k in begins[:1] if strategy == ";" or k == 0]
            for begin in begins:
                for k in takewhile(sails.__getitem__, range(begin, len(later))):
                    follows = later[k + 1][0] if k + 1 < len(later) else None
                    found += _taken(stops[bisect_right(stops, later[k][0]) :], strategy, follows)
    return found


def _sails_on(out: dict[str, str], report: dict[str, str]) -> bool:
    return int(report["speed"]) > int(out["speed"]) and report["direction"] == out["direction"]


def card_fraud(streams: Streams, window: int, strategy: str = ",", counted: int | None = None) -> int:
    """A, B+ per card: an amount, then one after the other of at least ten times as much; with `counted`, all of them among so
    many events of the card instead of in one window."""
    cards: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for t, row in _of(streams, "transactions"):
        cards[row["card"]].append((t, int(row["amount"].replace(".", ""))))
    found = 0
    for uses in cards.values():
        for i, (t, small) in enumerate(uses):
            inside = [
                amount >= 10 * small
                for j, (s, amount) in enumerate(uses[i + 1 : i + 1 + (counted or len(uses))], i + 1)
                if (j - i < counted if counted else s // window == t // window)
            ]
            begins = [k for k, large in enumerate(inside) if large]
            if strategy != ":":
                begins = [k for k in begins[:1] if strategy == ";" or k == 0]
            for begin in begins:
                end = next((k for k in range(begin, len(inside)) if not inside[k]), len(inside))
                found += end - begin
    return found


def stocks(streams: Streams, window: int) -> int:
    """A; B; C per company: 2 % up at last, then 2 % down at last."""
    companies: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for t, row in _of(streams, "stocks"):
        companies[row[""]].append((t, int(row["price"].replace(".", ""))))
    found = 0
    for ticks in companies.values():
        for i, (t, first) in enumerate(ticks):
            inside = [p for s, p in ticks[i + 1 : i + 1 + window] if s // window == t // window]
            top = next((k for k, p in enumerate(inside) if 100 * p >= 102 * first), None)
            found += top is not None and any(100 * p <= 98 * inside[top] for p in inside[top + 1 :])
    return found


def traffic(streams: Streams, window: int, strategy: str = ";") -> int:
    """A; (B & C): congestion on the first road, later at one time at least as much on the second and on the third. The roads
    report each minute."""
    roads = [{(t, row["observedProperty"]): int(row["hasValue"]) for t, row in _of(streams, iri)} for iri in sorted(streams)]
    # 182955, 195446, 195578 in order of their numbers; the query's second road is the last of them
    first, third, second = roads
    segments: dict[str, list[int]] = defaultdict(list)
    for t, segment in first:
        segments[segment].append(t)
    follows = dict(pairwise(sorted({t for road in roads for t, _ in road})))
    found = 0
    for (t, segment), v1 in first.items():
        if v1 > 3:
            later = segments[segment][bisect_right(segments[segment], t) :][: window // 60_000 + 1]
            inside = (s for s in later if s // window == t // window)
            # the stream may end within a minute: what was not reported is below everything
            worse = [s for s in inside if v1 <= second.get((s, segment), -1) <= third.get((s, segment), -1)]
            found += _taken(worse, strategy, follows.get(t))
    return found


COUNTS: Final[dict[str, tuple[str, Callable[..., int], int]]] = {
    "smart grid": ("smartgrid", smart_grid, 4),
    "trajectories": ("vessels", trajectories, 3),
    "card fraud": ("cards", card_fraud, 3),
    "stock market": ("stocks", stocks, 3),
    "traffic": ("traffic", traffic, 4),
}
"""By use case: the dataset, what counts, and triples per event."""
