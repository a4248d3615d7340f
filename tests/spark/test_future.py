"""Live events ahead of the clock, as tasks see them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from batches import KEY, XSD, at_time, quad
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.spark.future import present
from scepter.timeline import TimeKind, parse_datetime

NOW = parse_datetime("2026-01-01T00:00:00Z") / 1_000_000


@pytest.mark.parametrize(
    ("given", "live", "left"),
    [
        ("1h", True, ["2025-12-31T23:00:00Z", "2026-01-01T01:00:00Z"]),
        ("1h", False, None),
        (None, True, None),
        ("1000000d", True, None),
    ],
)
def test_what_is_too_far_ahead_is_a_dead_letter(given: str | None, live: bool, left: list[str] | None) -> None:
    times = ["2025-12-31T23:00:00Z", "2999-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:01Z"]
    reader = NQuadsReader(KEY, 0, "t", lambda letter: None)
    reader.feed("".join(at_time(f"e{i}", f'"{t}"^^<{XSD}dateTime>') + quad(f"e{i}") for i, t in enumerate(times)).encode())
    batch = reader.finish()
    assert batch is not None
    letters: list[DeadLetter] = []
    job: Any = SimpleNamespace(
        options=RunOptions.of(max_future=given), kind=TimeKind.DATETIME, live=live, streams=(IRI("http://e/s"),)
    )
    found = [end for each in present(job, [batch], letters.append, lambda: NOW) for end in each.end.tolist()]
    assert found == [parse_datetime(t) for t in (times if left is None else left)]
    assert len(letters) == len(times) - len(found)
    if letters:
        assert letters[0].reason == "2999-01-01T00:00:00Z is too far ahead of the clock (--max-future)"
