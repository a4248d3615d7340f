"""Options of a run: checked, and refused where a language or an engine does not take them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from scepter.cli.options import SparkOptions, check_engine, run_options
from scepter.errors import OptionError
from scepter.lower import Lowered, lower
from scepter.runtime.options import Instant, RunOptions
from scepter.timeline import Duration, TimeKind

_SAMPLES = {
    "spaseq": "SELECT ?x WITHIN 5 FROM STREAM S <http://example/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }",
    "ep-sparql": "SELECT ?x FROM STREAM <http://example/s> WHERE { { ?x ?p ?o } SEQ { ?o ?q ?y } }",
    "obep": "PREFIX : <http://example/> EVENT A AS (Room) RETURN A AS RDF STREAM",
    "rsep-ql": "SELECT ?x FROM NAMED <http://example/s> WIN [RANGE 5] AS <http://example/w> "
    "WHERE { WINDOW <http://example/w> { ?x ?p ?o } }",
    "sparkwave": "SELECT ?x FROM STREAM <http://example/s> [RANGE 5 STEP 1] WHERE { ?x ?p ?o }",
}


@cache
def _lowered(language: str) -> Lowered:
    return lower(_SAMPLES[language], language)


def refused(language: str, **options: Any) -> str:
    with pytest.raises(OptionError) as caught:
        run_options(_lowered(language), **options)
    return str(caught.value)


def test_nothing_said() -> None:
    assert run_options(_lowered("spaseq")) == RunOptions()


def test_everything_rsep_ql_takes() -> None:
    found = run_options(_lowered("rsep-ql"), policy="naive", time_unit="s", start="-5", evaluate_at="8, 10", max_delay="5s")
    assert found == RunOptions(
        policy="naive",
        time_unit="s",
        start=Instant(-5, TimeKind.INTEGER),
        evaluate_at=(Instant(8, TimeKind.INTEGER), Instant(10, TimeKind.INTEGER)),
        max_delay=Duration(5_000_000),
    )


@pytest.mark.parametrize("policy", ["chronological", "recent", "naive"])
@pytest.mark.parametrize("language", ["spaseq", "sparkwave"])
def test_a_language_without_policies_refuses_every_one(language: str, policy: str) -> None:
    assert "takes no policy" in refused(language, policy=policy)


@pytest.mark.parametrize("language", ["spaseq", "ep-sparql", "obep", "rsep-ql", "sparkwave"])
def test_the_default_policy_may_be_said_in_every_language(language: str) -> None:
    assert run_options(_lowered(language), policy="unrestricted").policy == "unrestricted"


def test_a_language_refuses_a_policy_it_lacks() -> None:
    assert "EP-SPARQL takes unrestricted, chronological, recent" in refused("ep-sparql", policy="naive")
    assert "OBEP takes unrestricted" in refused("obep", policy="recent")
    assert run_options(_lowered("obep"), policy="unrestricted").policy == "unrestricted"


def test_a_misspelt_policy_is_told_first() -> None:
    assert "did you mean recent?" in refused("spaseq", policy="recnet")


@pytest.mark.parametrize("language", ["spaseq", "ep-sparql", "sparkwave"])
def test_only_rsep_ql_and_obep_are_evaluated_at_instants(language: str) -> None:
    assert "takes no evaluate_at" in refused(language, evaluate_at="8")


@pytest.mark.parametrize("language", ["rsep-ql", "obep"])
def test_instants_are_taken(language: str) -> None:
    taken = run_options(_lowered(language), evaluate_at="8,9").evaluate_at
    assert taken is not None and [instant.value for instant in taken] == [8, 9]


@pytest.mark.parametrize("text", ["", "8,", "8,,9", "soon", "99999999999999999999", "2026-13-01T00:00:00Z"])
def test_bad_instants(text: str) -> None:
    assert "error[instant]" in refused("rsep-ql", evaluate_at=text)
    if "," not in text:
        assert "error[instant]" in refused("spaseq", start=text)


def test_one_kind_of_time() -> None:
    assert "mixed-times" in refused("rsep-ql", start="0", evaluate_at="2026-01-01T00:00:00Z")
    assert "mixed-times" in refused("rsep-ql", evaluate_at="1,2026-01-01T00:00:00Z")


@pytest.mark.parametrize("text", ["", "5 parsecs", "-5s", "1.5", "P"])
def test_bad_delays(text: str) -> None:
    assert "error[duration]" in refused("spaseq", max_delay=text)


def test_a_unit_must_be_one() -> None:
    assert "the units are us, ms, s, min, h, d" in refused("spaseq", time_unit="fortnight")


class TestEngine:
    @pytest.mark.parametrize(
        ("option", "given"),
        [("--master", {"master": "local[2]"}), ("--trigger", {"trigger": "5s"}), ("--checkpoint", {"checkpoint": "dir"})],
    )
    def test_local_refuses_what_needs_spark(self, option: str, given: dict[str, object]) -> None:
        with pytest.raises(OptionError, match=f"{option} needs Spark"):
            check_engine("local", SparkOptions(**given))  # type: ignore[arg-type]

    def test_a_checkpoint_needs_a_run_that_goes_on(self) -> None:
        with pytest.raises(OptionError, match="--checkpoint"):
            check_engine("spark", SparkOptions(checkpoint="dir"))
        check_engine("spark", SparkOptions(master="local[2]", follow=True, checkpoint="dir"))

    def test_an_engine_must_be_one(self) -> None:
        with pytest.raises(OptionError, match="--engine cannot be 'flink'"):
            check_engine("flink", SparkOptions())
