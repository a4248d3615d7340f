"""Credit card transactions: "big after small" (SPAseq, query 2)."""

from __future__ import annotations

import numpy as np

from scepter.generate.draws import Draws, Indices
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen, hundredths, numbered

_NS = "http://example/"
_PLACES = 50
_QUERY = """\
PREFIX : <http://example/>
SELECT ?card ?small ?big ?name
WITHIN 30 MINUTES PARTITION BY (?card)
FROM STREAM Cards <http://creditcard.org/transactions>
WHERE {
  SEQ (A, B+)
  DEFINE GPM A ON Cards { ?t1 :card ?card ; :amount ?small . FILTER (?small > 0) }
  DEFINE GPM B ON Cards {
    ?t2 :card ?card ; :amount ?big . FILTER (?big >= 10 * ?small)
    GRAPH <http://creditcard.org/db> { ?card :cardHolder ?name }
  }
}
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """A transaction every 5 ms, one in fifty of them large."""
    cards = chosen(settings.keys, 1_000)

    def shape(index: Indices) -> Shape:
        small = draws.integers("cards/small", index, 100, 6_000)
        big = draws.integers("cards/big", index, 50_000, 250_000)
        subject = numbered(f"{_NS}transaction", index)
        return (
            (subject, f"<{_NS}card>", numbered(f"{_NS}card", draws.integers("cards/card", index, 0, cards - 1))),
            (subject, f"<{_NS}amount>", hundredths(np.where(draws.chance("cards/large", index, 20), big, small))),
            (subject, f"<{_NS}loc>", numbered(f"{_NS}place", draws.integers("cards/place", index, 0, _PLACES - 1))),
        )

    return Dataset(
        streams=(StreamPlan("transactions", "http://creditcard.org/transactions", shape),),
        interval=5,
        background={"http://creditcard.org/db": _holders(cards)},
        queries={"big-after-small.spaseq": _QUERY},
    )


def _holders(cards: int) -> str:
    lines = [
        f':card{card} :cardHolder "holder {card}" ; :holderAddress "{card} Main Street" ; :issuedBy :bank{card % 7} .'
        for card in range(cards)
    ]
    return "\n".join([f"PREFIX : <{_NS}>", *lines, ""])
