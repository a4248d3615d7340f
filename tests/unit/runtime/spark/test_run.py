"""What `scepter.run` is given; how many buckets a live run has: some for each core at its first start, the same for ever."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from scepter.errors import OptionError
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, one_query, parse
from scepter.runtime.spark.run import _live_buckets, run_with_options

NAMED = "PREFIX : <http://e/> SELECT ?x FROM STREAM S :s WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?v } }"
EVERY = "PREFIX : <http://e/> SELECT ?x WHERE { ?x :p ?v }"


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


def refused(query: Query, streams: Any) -> OptionError:
    """What is wrong with the streams is told before the session is asked for anything."""
    with pytest.raises(OptionError) as caught:
        run_with_options(query, object(), streams, RunOptions(), find_files=lambda source: ())  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize("query", [parse(NAMED), one_query([parse(NAMED), parse(EVERY)])])
def test_streams_are_called_by_iri_alias_or_prefixed_name(query: Query) -> None:
    for name in ("S", ":s", "http://e/s", "<http://e/s>"):
        assert "the stream <http://e/s> is given as an int" in str(refused(query, {name: 5}))
    assert refused(query, {"S": "a.nq", ":s": "b.nq"}).code == "stream-twice"
