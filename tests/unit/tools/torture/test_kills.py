"""What the chamber calls lost or doubled."""

from __future__ import annotations

import json
from collections import Counter

from torture.kills import differing, without_last
from torture.programs import far_times, stream


def line(end: int, value: int = 0) -> str:
    return json.dumps({"start": 1, "end": end, "bindings": {"n": value}})


def found(wanted: Counter[str], got: Counter[str]) -> list[str]:
    return differing("match", without_last(wanted, 100), without_last(got, 100))


def test_a_match_from_before_the_last_instants_is_lost_or_doubled() -> None:
    assert found(Counter([line(99)]), Counter()) == [f"match lost: {line(99)}"]
    assert found(Counter(), Counter([line(99)])) == [f"match doubled or new: {line(99)}"]
    assert found(Counter([line(99)]), Counter([line(99)] * 2)) == [f"match doubled or new: {line(99)}"]


def test_a_match_of_the_last_instants_may_be_missing_and_may_not_come_twice() -> None:
    assert found(Counter([line(100)]), Counter()) == []
    assert found(Counter(), Counter([line(100)])) == []
    assert found(Counter([line(100)]), Counter([line(100)] * 2)) == [f"match doubled or new: {line(100)}"]


def test_the_far_files_are_the_last_ones_of_a_stream() -> None:
    for leaps in (False, True):
        far = far_times(4, 40, leaps=leaps)
        texts = stream(1, 4, 40, 4, leaps=leaps)
        assert len(texts) == 4 + len(far)
        assert all(f'"{time}"' in text for time, text in zip(far, texts[4:], strict=True))
