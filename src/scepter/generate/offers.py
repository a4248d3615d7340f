"""Product offers after the Berlin SPARQL Benchmark, eleven triples each, and a tree of product types (Sparkwave's workload)."""

from __future__ import annotations

from scepter.generate.draws import Draws, Indices
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen, hundredths, integers, numbered, picked
from scepter.rdf.terms import RDFS, TYPE, XSD

_VOCABULARY = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"
_INSTANCES = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/"
_DC = "http://purl.org/dc/elements/1.1/"
_COUNTRIES = "http://downlode.org/rdf/iso-3166/countries#"
_STATIC = "http://bsbm.org/static"
_CODES = ("US", "GB", "JP", "CN", "DE", "FR", "ES", "RU", "KR", "AT")
_VENDORS, _PRODUCERS, _PRODUCTS = 100, 50, 2_000
_FANOUT = 8
_QUERY = f"""\
REGISTER QUERY OfferDetection AS
PREFIX voc: <{_VOCABULARY}>
PREFIX inst: <{_INSTANCES}>
SELECT ?offer ?product ?vendor ?price
FROM STREAM <http://bsbm.org/stream> [RANGE 1s]
FROM <{_STATIC}>
WHERE {{
  ?offer a voc:Offer . ?offer voc:product ?product . ?offer voc:vendor ?vendor . ?offer voc:price ?price .
  ?product a inst:ProductType2 .
  ?vendor voc:country <{_COUNTRIES}GB>
}}
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """One offer per millisecond; every product has a leaf of the tree of product types for its type."""
    types = max(2, chosen(settings.keys, 329))
    first_leaf = (types - 2) // _FANOUT + 1
    leaves = draws.integers("offers/leaf", Draws.rows(_PRODUCTS), first_leaf, types - 1)
    leaf_of = numbered(f"{_INSTANCES}ProductType", leaves)

    def shape(index: Indices) -> Shape:
        offer = numbered(f"{_INSTANCES}Offer", index)
        products = draws.integers("offers/product", index, 0, _PRODUCTS - 1)
        vendor = numbered(f"{_INSTANCES}Vendor", draws.integers("offers/vendor", index, 0, _VENDORS - 1))
        product = numbered(f"{_INSTANCES}Product", products)
        values = {
            f"{_VOCABULARY}product": product,
            f"{_VOCABULARY}vendor": vendor,
            f"{_VOCABULARY}price": hundredths(draws.integers("offers/price", index, 500, 1_000_000)),
            f"{_VOCABULARY}validFrom": _days(draws.integers("offers/from", index, 1, 28), 3),
            f"{_VOCABULARY}validTo": _days(draws.integers("offers/to", index, 1, 28), 6),
            f"{_VOCABULARY}deliveryDays": integers(draws.integers("offers/delivery", index, 1, 21)),
            f"{_VOCABULARY}offerWebpage": numbered("http://vendor.example/offer/", index),
            f"{_DC}publisher": vendor,
            f"{_DC}date": _days(draws.integers("offers/date", index, 1, 28), 2),
        }
        triples = ((offer, f"<{predicate}>", value) for predicate, value in values.items())
        return ((offer, f"<{TYPE}>", f"<{_VOCABULARY}Offer>"), *triples, (product, f"<{TYPE}>", picked(leaf_of, products)))

    return Dataset(
        streams=(StreamPlan("offers", "http://bsbm.org/stream", shape),),
        interval=1,
        background={_STATIC: _vendors_and_producers(draws)},
        ontology=_hierarchy(types),
        queries={"offers.sparkwave": _QUERY},
    )


def _days(days: Indices, month: int) -> list[str]:
    return [f'"2026-{month:02d}-{day:02d}"^^<{XSD}date>' for day in days.tolist()]


def _hierarchy(types: int) -> str:
    head = [f"PREFIX inst: <{_INSTANCES}>", f"PREFIX rdfs: <{RDFS}>"]
    lines = [f"inst:ProductType{child} rdfs:subClassOf inst:ProductType{(child - 1) // _FANOUT} ." for child in range(1, types)]
    return "\n".join([*head, *lines, ""])


def _vendors_and_producers(draws: Draws) -> str:
    head = [f"PREFIX voc: <{_VOCABULARY}>", f"PREFIX inst: <{_INSTANCES}>", f"PREFIX c: <{_COUNTRIES}>"]
    lines = [f"inst:Vendor{number} voc:country c:{_CODES[number % len(_CODES)]} ." for number in range(_VENDORS)]
    lines += [f"inst:Producer{number} voc:country c:{_CODES[number % len(_CODES)]} ." for number in range(_PRODUCERS)]
    made_by = draws.integers("offers/producer", Draws.rows(_PRODUCTS), 0, _PRODUCERS - 1).tolist()
    lines += [f"inst:Product{product} voc:producer inst:Producer{producer} ." for product, producer in enumerate(made_by)]
    return "\n".join([*head, *lines, ""])
