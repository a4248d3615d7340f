"""EP-SPARQL's forms over trades, each beside the plain chain; and many queries in one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scepter.bench import goals
from scepter.bench.model import Goal, Point, Results, Room, Workload
from scepter.bench.shapes.trades import NS, STREAM, Trades, write_sectors

WIDTH: Final = 1_000
HEAD: Final = f"PREFIX : <{NS}>\n"
BOUND: Final = f"FILTER (getDURATION() < {WIDTH})"
CHAIN: Final = f"SELECT ?c ?p ?v WHERE {{ {{ ?c :price ?p }} SEQ {{ ?c :volume ?v }} {BOUND} }}"
FORMS: Final = {
    "chain": CHAIN,
    "join": f"SELECT ?c ?p ?v WHERE {{ ?c :price ?p . ?c :volume ?v {BOUND} }}",
    "OPTIONAL": f"SELECT ?c ?p ?h WHERE {{ {{ ?c :price ?p }} OPTIONAL {{ ?c :halted ?h }} {BOUND} }}",
    "OPTIONALSEQ": f"SELECT ?c ?p ?h WHERE {{ {{ ?c :halted ?h }} OPTIONALSEQ {{ ?c :price ?p }} {BOUND} }}",
    "EQUALS": "SELECT ?c ?p ?v WHERE { { ?c :price ?p } EQUALS { ?c :volume ?v } }",
    "background": f"SELECT ?c ?p ?v ?s WHERE {{ {{ ?c :price ?p . ?c :sector ?s }} SEQ {{ ?c :volume ?v }} {BOUND} }}",
    "policy": CHAIN,
}
MANY: Final = {
    "chains": "SELECT ?c ?p ?v WHERE {{ {{ ?c :price ?p }} SEQ {{ ?c :volume ?v }} FILTER (getDURATION() < {0} && ?v < {1}) }}",
    "joins": "SELECT ?c ?p ?v WHERE {{ ?c :price ?p . ?c :volume ?v FILTER (getDURATION() < {0} && ?v < {1}) }}",
}
"""Queries that differ in a constant."""


def point(room: Room, trades: Trades, at: float | str, text: str, answers: int) -> Point:
    """A text over trades."""
    return Point(
        at=at,
        query=HEAD + text,
        language="ep-sparql",
        streams={STREAM: room.file("trades.nt", trades.write)},
        events=trades.events,
        triples=trades.events,
        answers=answers,
        contenders=("written",),
        background={"": room.file("sectors.nt", write_sectors)} if at == "background" else {},
        options={"policy": "chronological"} if at == "policy" else {},
    )


def forms(room: Room) -> Iterator[Point]:
    """A point per form."""
    trades = Trades.drawn(room.size(200_000, 20_000))
    chain = trades.followed(WIDTH)
    answers: Mapping[str, int] = {
        "chain": chain,
        "background": chain,
        "join": trades.joined(WIDTH),
        "policy": trades.chronological(WIDTH),
        "OPTIONAL": trades.perhaps_halted(WIDTH, strictly=False),
        "OPTIONALSEQ": trades.perhaps_halted(WIDTH, strictly=True),
        "EQUALS": sum(volume >= 0 for volume in trades.volume),
    }
    for form, text in FORMS.items():
        yield point(room, trades, form, text, answers[form])


def many(room: Room) -> Iterator[Point]:
    """One, five and twenty queries in a file; a volume in fifty or so is small enough for each."""
    trades = Trades.drawn(room.size(200_000, 20_000))
    for kind, text in MANY.items():
        count = trades.followed if kind == "chains" else trades.joined
        for queries in (1, 5, 20):
            bounds = [150 + 10 * n for n in range(queries)]
            whole = "\n".join(text.format(WIDTH, below) for below in bounds)
            yield point(room, trades, f"{queries} {kind}", whole, sum(count(WIDTH, below) for below in bounds))


def against_chain(results: Results) -> float:
    """The dearest form, per event, against the chain."""
    return max(m.cpu for m in results.of("written")) / results["chain", "written"].cpu


def four_against_chain(results: Results) -> float:
    """The dearest of four forms that find about as much as the chain; the join has three times the rows."""
    forms = ("OPTIONALSEQ", "EQUALS", "background", "policy")
    return max(results[form, "written"].cpu for form in forms) / results["chain", "written"].cpu


def against_one(queries: int) -> Goal:
    """So many queries against one of them."""
    return Goal(
        f"CPU, {queries} queries against one",
        lambda r: max(r[f"{queries} {kind}", "written"].cpu / r[f"1 {kind}", "written"].cpu for kind in MANY),
        most={5: 2.0, 20: 5.0}[queries],
    )


WORKLOADS: Final = (
    Workload(
        "ep-sparql-forms",
        "EP-SPARQL: joins, OPTIONAL, OPTIONALSEQ, EQUALS, background and a policy beside a chain of two",
        "form",
        forms,
        (
            goals.events_rate(200_000),
            Goal("CPU, dearest form against the chain", against_chain, most=2.0),
            Goal("CPU, OPTIONALSEQ, EQUALS, background, policy against the chain", four_against_chain, most=2.0),
        ),
    ),
    Workload(
        "ep-sparql-many",
        "EP-SPARQL: one, five and twenty queries in a file, which differ in a constant",
        "queries",
        many,
        (against_one(5), against_one(20)),
    ),
)
