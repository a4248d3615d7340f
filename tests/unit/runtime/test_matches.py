"""The order of matches, and what a run tells of their events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from scepter import parse
from scepter.io.sources import open_source
from scepter.runtime.local import run_in_parts
from scepter.runtime.matches import Match, _order

S = "http://e/s"
PROV = "http://www.w3.org/ns/prov#generatedAtTime"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
QUERY = f"""PREFIX : <http://e/> SELECT ?x WITHIN 5 SLIDING FROM STREAM S <{S}>
WHERE {{ SEQ (A) DEFINE GPM A ON S {{ ?x :a ?v }} }}"""


@pytest.mark.parametrize("size", [10, 5_000])
@pytest.mark.parametrize(
    "span", [(0, 1), (-5, 5), (1_700_000_000_000, 1_700_000_100_000), (-(2**63), 2**63 - 1), (2**62, 2**63 - 1)]
)
def test_packed_into_one_number_or_not_the_order_is_stable(size: int, span: tuple[int, int]) -> None:
    random = np.random.default_rng(size)
    end, start = (random.integers(*span, size, dtype=np.int64, endpoint=True) for _ in range(2))
    assert (_order([end, start]) == np.lexsort([start, end])).all()


def matches(tmp_path: Path, *, named: bool) -> Sequence[Match]:
    path = tmp_path / "events.nq"
    path.write_text(
        "".join(
            f'<http://e/x> <http://e/a> "{time}" <urn:e{time}> .\n<urn:e{time}> <{PROV}> "{time}"^^<{INTEGER}> .\n'
            for time in (1, 2)
        )
    )
    return [match for some in run_in_parts(parse(QUERY), {S: open_source(path)}, named=named) for match in some]


def test_names_of_events_are_told_unless_nobody_asks(tmp_path: Path) -> None:
    named, plain = matches(tmp_path, named=True), matches(tmp_path, named=False)
    assert [match.events for match in named] == [{"A": ["urn:e1"]}, {"A": ["urn:e2"]}]
    assert [match.events for match in plain] == [{"A": ["#0"]}, {"A": ["#1"]}]
    assert [match.row() for match in named] == [match.row() for match in plain]
