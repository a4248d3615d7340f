"""How many buckets a live run has: some for each core at its first start, and the same for ever."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scepter.errors import OptionError
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.identity import Identity
from scepter.runtime.spark.run import _claimed, _live_buckets
from scepter.timeline import TimeKind

QUERY = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"


def session(cores: int, **conf: str) -> Any:
    told = {name.replace("_", "."): value for name, value in conf.items()}
    return SimpleNamespace(
        conf=SimpleNamespace(get=lambda name, default=None: told.get(name, default)),
        sparkContext=SimpleNamespace(defaultParallelism=cores),
    )


def identity(buckets: int, *, asked: bool = False) -> Identity:
    program = parse(QUERY, "spaseq").program
    return Identity.of(program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), QUERY, buckets, asked=asked)


def test_a_first_start_takes_some_for_each_core() -> None:
    assert [_live_buckets(session(cores)) for cores in (2, 100, 5_000)] == [(32, False), (400, False), (4096, False)]
    assert _live_buckets(session(2, spark_scepter_buckets="7")) == (7, True)


@pytest.mark.parametrize("given", ["0", "4097", "many", "-1"])
def test_a_number_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(OptionError) as caught:
        _live_buckets(session(2, spark_scepter_buckets=given))
    assert caught.value.code == "buckets" and given in str(caught.value)


def test_the_folder_of_a_checkpoint_tells_it_to_later_starts(tmp_path: Path) -> None:
    assert _claimed(tmp_path, identity(400)).buckets == 400
    assert _claimed(tmp_path, identity(80)).buckets == 80  # nothing was done yet
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    found = _claimed(tmp_path, identity(4096))
    assert (found.goes_on, found.buckets) == (True, 80)
    assert identity(4096).in_buckets(80) == identity(80)
    assert identity(4096, asked=True).in_buckets(80).buckets == 4096, "and state of 80 then refuses it"


def test_without_a_folder_or_with_one_of_before_there_are_as_many_as_ever(tmp_path: Path) -> None:
    assert _claimed(None, identity(400)).buckets == 32
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    assert _claimed(tmp_path, identity(400)).buckets == 32


def test_state_goes_on_with_its_own_number() -> None:
    kept = identity(256).written()
    assert identity(32).going_on(kept) == identity(256)
    refused = identity(32, asked=True).going_on(kept).refusal(kept, "state")
    assert refused is not None and "spark.scepter.buckets is 32 now" in refused.message
    assert identity(32).going_on(kept).refusal(kept, "state") is None
