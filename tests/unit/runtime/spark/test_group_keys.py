"""Where buckets lie on Spark: one after the other from task to task, and none under the key of another."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from scepter.runtime.spark.group_keys import at_place, hashed, place_of_times, placed, undone


@pytest.mark.parametrize(("buckets", "tasks"), [(32, 2), (32, 5), (32, 8), (64, 16), (128, 32), (400, 100), (4096, 200)])
def test_no_task_has_more_than_one_bucket_more_than_another(buckets: int, tasks: int) -> None:
    """By their numbers alone the fullest of 16 had twice the mean."""
    for share in range(3):
        found = Counter(hashed(placed(buckets, share, bucket)) % tasks for bucket in range(buckets))
        assert max(found.values()) - min(found[task] for task in range(tasks)) <= 1
    by_number = Counter(hashed(bucket) % 16 for bucket in range(64))
    assert max(by_number.values()) == 8


def test_shares_of_one_bucket_do_not_meet_in_one_task() -> None:
    assert Counter(hashed(placed(32, share, 0)) % 4 for share in range(8)) == dict.fromkeys(range(4), 2)


@pytest.mark.parametrize("buckets", [1, 2, 32, 4096])
def test_every_key_tells_whose_it_is(buckets: int) -> None:
    some = [(share, bucket) for share in range(-12, 12) for bucket in range(buckets)]
    keys = [placed(buckets, *each) for each in some]
    assert [at_place(buckets, key) for key in keys] == some
    assert len({*keys, undone(-1), place_of_times(buckets)}) == len(some) + 2
    assert at_place(buckets, undone(-1))[0] < 0


def test_the_place_of_times_is_no_buckets() -> None:
    """Its key is not chosen by its hash: of no number of buckets it is the key of a place that a program would have."""
    assert min(abs(hashed(place_of_times(buckets))) // (buckets + 1) for buckets in range(1, 4097)) > 100


def test_a_hash_is_undone() -> None:
    drawn = random.Random(7)
    for key in [drawn.randrange(-(2**31), 2**31) for _ in range(2000)]:
        assert undone(hashed(key)) == key and hashed(undone(key)) == key
