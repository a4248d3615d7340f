"""How many buckets a live run has: some for each core at its first start, and the same for ever."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scepter.errors import OptionError
from scepter.runtime.spark.run import _live_buckets


def session(cores: int, **conf: str) -> Any:
    told = {name.replace("_", "."): value for name, value in conf.items()}
    return SimpleNamespace(
        conf=SimpleNamespace(get=lambda name, default=None: told.get(name, default)),
        sparkContext=SimpleNamespace(defaultParallelism=cores),
    )


def test_a_first_start_takes_some_for_each_core() -> None:
    assert [_live_buckets(session(cores)) for cores in (2, 100, 5_000)] == [(32, False), (400, False), (4096, False)]
    assert _live_buckets(session(2, spark_scepter_buckets="7")) == (7, True)


@pytest.mark.parametrize("given", ["0", "4097", "many", "-1"])
def test_a_number_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(OptionError) as caught:
        _live_buckets(session(2, spark_scepter_buckets=given))
    assert caught.value.code == "buckets" and given in str(caught.value)
