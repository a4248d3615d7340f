"""Stock ticks: the workload of the V shape and of head-and-shoulders (SPAseq, queries 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable

from scepter.errors import option_error
from scepter.generate.draws import Draws, Indices, Walk
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen, either, hundredths, integers, numbered, picked

_NS = "http://example/"
_SECTORS = 11
_MAX_TRIPLES = 7
_QUERY = """\
PREFIX : <http://example/>
SELECT ?company ?p1 ?p2 ?p3
WITHIN 60 SECONDS PARTITION BY (?company)
FROM STREAM Stocks <http://stockmarket.org/stocks>
WHERE {{
  SEQ (A{follows} B{follows} C)
  DEFINE GPM A ON Stocks {{ ?company :price ?p1 }}
  DEFINE GPM B ON Stocks {{ ?company :price ?p2 FILTER ({rise}) }}
  DEFINE GPM C ON Stocks {{ ?company :price ?p3 FILTER ({fall}) }}
}}
"""
_QUERIES = {
    "v-shape-next.spaseq": _QUERY.format(follows=";", rise="?p2 >= 1.02 * ?p1", fall="?p3 <= 0.98 * ?p2"),
    "v-shape-strict.spaseq": _QUERY.format(follows=",", rise="?p2 > ?p1", fall="?p3 < ?p2"),
}


def plan(settings: Settings, draws: Draws) -> Dataset:
    """One tick per millisecond; per company a random walk of the price in cents."""
    if not 1 <= settings.triples_per_event <= _MAX_TRIPLES:
        raise option_error("generate-option", f"a tick has 1 to {_MAX_TRIPLES} triples, not {settings.triples_per_event}")
    companies = chosen(settings.keys, 110)
    names = [f"<{_NS}company{number}>" for number in range(companies)]
    sectors = [f"<{_NS}sector{number % _SECTORS}>" for number in range(companies)]
    symbols = [f'"C{number:04d}"' for number in range(companies)]
    prices = Walk.starting(draws, "stocks/first price", companies, 2_000, 50_000)

    def shape(index: Indices) -> Shape:
        company = draws.integers("stocks/company", index, 0, companies - 1)
        price = prices.advance(company, draws.integers("stocks/step", index, -75, 75))
        subject = picked(names, company)
        columns: dict[str, Callable[[], list[str]]] = {
            "price": lambda: hundredths(price),
            "volume": lambda: integers(draws.integers("stocks/volume", index, 1, 1_000)),
            "type": lambda: either(draws.chance("stocks/type", index, 500), '"buy"', '"sell"'),
            "transaction": lambda: numbered(f"{_NS}transaction", index),
            "sector": lambda: picked(sectors, company),
            "symbol": lambda: picked(symbols, company),
            "broker": lambda: numbered(f"{_NS}broker", draws.integers("stocks/broker", index, 1, 40)),
        }
        wanted = list(columns.items())[: settings.triples_per_event]
        return tuple((subject, f"<{_NS}{name}>", column()) for name, column in wanted)

    return Dataset(
        streams=(StreamPlan("stocks", "http://stockmarket.org/stocks", shape),),
        interval=1,
        queries=_QUERIES,
    )
