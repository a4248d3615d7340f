"""What is made once, by the identity of what it is made of."""

from __future__ import annotations

from scepter.remembered import remembered


def test_things_are_told_apart_by_what_they_are() -> None:
    asked: list[list[int]] = []

    @remembered(most=2)
    def total(*things: list[int], more: int = 0) -> int:
        asked.append(list(things[0]))
        return sum(map(sum, things)) + more

    one, two = [1], [1]
    assert [total(one), total(one), total(two), total(one)] == [1, 1, 1, 1]
    assert asked == [[1], [1]]
    assert total(one, two) == 2
    assert total(one, more=7) == 8


def test_only_the_last_are_kept_with_what_they_were_made_of() -> None:
    made: list[int] = []

    @remembered(most=2)
    def length(thing: list[int]) -> int:
        made.append(len(thing))
        return len(thing)

    # each of them is let go of at once, so that the next one could have its place in memory
    assert [length([0] * size) for size in range(1, 50)] == list(range(1, 50))
    assert made == list(range(1, 50))
    kept = [[0], [0, 0], [0, 0, 0]]
    made.clear()
    assert [length(each) for each in (*kept, kept[2], kept[1], kept[0])] == [1, 2, 3, 3, 2, 1]
    assert made == [1, 2, 3, 1]
