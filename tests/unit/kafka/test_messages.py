"""Partitions as one stream: the order is that of a merge one message at a time, whatever the hands are."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scepter.kafka.messages import in_order


@dataclass(frozen=True, slots=True)
class Sent:
    """A message with its time."""

    stream: int
    number: int
    time: int

    def value(self) -> bytes:
        return b""

    def partition(self) -> int:
        return self.stream

    def offset(self) -> int:
        return self.number

    def timestamp(self) -> tuple[int, int]:
        return 1, self.time

    def headers(self) -> None:
        return None

    def error(self) -> Any:
        return None


def in_hands(messages: list[Sent], cuts: list[int]) -> Iterator[list[Any]]:
    """The messages in hands, none of them empty."""
    edges = sorted({0, len(messages), *(cut % (len(messages) + 1) for cut in cuts)})
    return (messages[begin:end] for begin, end in pairwise(edges))


TIMES = st.lists(st.lists(st.integers(0, 6), max_size=12), min_size=1, max_size=4)
CUTS = st.lists(st.lists(st.integers(0, 12), max_size=4), min_size=4, max_size=4)


@given(TIMES, CUTS)
def test_hands_are_merged_as_single_messages_would_be(times: list[list[int]], cuts: list[list[int]]) -> None:
    streams = [[Sent(stream, number, time) for number, time in enumerate(each)] for stream, each in enumerate(times)]
    expected = list(heapq.merge(*streams, key=lambda message: message.time))
    hands = list(in_order([in_hands(each, cut) for each, cut in zip(streams, cuts, strict=False)]))
    assert [message for hand in hands for message in hand] == expected
    assert all(hands)
