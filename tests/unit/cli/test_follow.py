"""Outputs of runs that go on: each micro-batch once, whatever a crash left behind."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import pytest

from scepter.cli.execute import Job
from scepter.cli.follow import FollowedOutput, check_follow, places, watermark
from scepter.cli.journal import RECORD, begin_anew
from scepter.cli.options import SparkOptions, check_engine, trigger_interval
from scepter.cli.spark import check_followed, spooled
from scepter.errors import OptionError, QueryError
from scepter.io.results import ResultWriter, Shape
from scepter.io.writers import open_writer
from scepter.rdf.batch import DeadLetter
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.answers import RowAnswer, term_of
from scepter.runtime.spark.follow import Standing
from scepter.timeline import TimeKind

QUERY = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"


def answers(*times: int) -> Sequence[Match]:
    cell = ("uri", "http://e/x", None, None)
    return [Match(RowAnswer(0, TimeKind.INTEGER, (time, time), ["x"], [cell], None, None, {"A": ["e"]}), 0) for time in times]


def graphs(*times: int) -> Sequence[Match]:
    triple = ("<http://e/s>", "<http://e/p>", "<http://e/o>")
    return [Match(RowAnswer(0, TimeKind.INTEGER, (time, time), [], [], [triple], None, {}), 0) for time in times]


def jsonl(out: TextIO, written: int) -> ResultWriter:
    return open_writer("jsonl", out, Shape(("x",)))


def csv(out: TextIO, written: int) -> ResultWriter:
    return open_writer("csv", out, Shape(("x",)))


def ends(path: Path) -> list[int]:
    return [json.loads(line)["end"] for line in path.read_text().splitlines()]


def test_a_restart_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    first = FollowedOutput(output, tmp_path, jsonl)
    assert first.take(0, answers(1, 2)) == 2
    assert first.take(1, []) == 0
    first.close()
    second = FollowedOutput(output, tmp_path, jsonl)
    assert second.take(1, answers(9)) == 0
    assert second.take(2, answers(3)) == 1
    second.close()
    assert ends(output) == [1, 2, 3]


def test_what_a_crash_left_half_written_is_cut_off(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    first = FollowedOutput(output, tmp_path, jsonl)
    first.take(0, answers(1))
    first.close()
    with output.open("a") as torn:
        torn.write('{"start": 2, "en')
    second = FollowedOutput(output, tmp_path, jsonl)
    assert second.take(1, answers(2)) == 1
    second.close()
    assert ends(output) == [1, 2]


def test_the_heading_stands_once(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    for batch in range(3):
        written = FollowedOutput(output, tmp_path, csv)
        written.take(batch, answers(batch))
        written.close()
    assert output.read_text().splitlines() == ["start,end,x", *(f"{i},{i},http://e/x" for i in range(3))]


@pytest.mark.parametrize("format", ["jsonl", "csv", "csv-safe", "tsv", "trig"])
def test_a_restart_writes_graphs_as_one_run_would(tmp_path: Path, format: str) -> None:
    """Two matches of one interval are told apart by their numbers: a restart must not give a number again."""

    def written(name: str, runs: Sequence[Sequence[int]]) -> bytes:
        (folder := tmp_path / name).mkdir()
        for batches in runs:
            out = FollowedOutput(
                folder / "out", folder, lambda text, before: open_writer(format, text, Shape(graphs=True), written=before)
            )
            for batch in batches:
                out.take(batch, graphs(7, 7))
            out.close()
        return (folder / "out").read_bytes()

    undisturbed = written("calm", [[0, 1, 2]])
    assert written("restarted", [[0], [0, 1], [1, 2]]) == undisturbed


def test_an_output_that_shrank_is_an_error(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    written = FollowedOutput(output, tmp_path, jsonl)
    written.take(0, answers(1))
    written.close()
    output.write_text("")
    with pytest.raises(OptionError, match="had written"):
        FollowedOutput(output, tmp_path, jsonl)


def test_without_a_checkpoint_a_run_starts_anew(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("old\n")
    written = FollowedOutput(output, None, jsonl)
    written.take(0, answers(1))
    written.close()
    assert ends(output) == [1]


def test_to_standard_output_it_just_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = FollowedOutput(None, tmp_path, jsonl)
    written.take(0, answers(1))
    written.close()
    assert json.loads(capsys.readouterr().out)["end"] == 1
    assert list(tmp_path.iterdir()) == []


def job(sources: dict[str, str], checkpoint: Path | None = None) -> Job:
    return Job(parse(QUERY), {}, {}, [], RunOptions(), "spark", sources, follow=True, checkpoint=checkpoint)


def test_last_has_no_end_to_wait_for(tmp_path: Path) -> None:
    text = "PREFIX : <http://e/>\nEVENT A AS ClassA\nEVENT L MATCH LAST A\nRETURN L AS RDF STREAM"
    followed = Job(parse(text, "obep"), {}, {}, [], RunOptions(), "spark", {"http://e/s": str(tmp_path)}, follow=True)
    with pytest.raises(QueryError, match="LAST is certain only at the end"):
        check_follow(followed, "jsonl", None)


def test_what_cannot_be_followed_is_refused_before_spark_starts(tmp_path: Path) -> None:
    folder = {"http://e/s": str(tmp_path)}
    check_follow(job(folder, tmp_path), "jsonl", tmp_path / "out")
    with pytest.raises(OptionError, match="named by number"):
        check_follow(job(folder, tmp_path), "trig", None)
    check_follow(job(folder, tmp_path), "trig", tmp_path / "out")
    with pytest.raises(OptionError, match="no table into a file"):
        check_follow(job(folder), "table", tmp_path / "out")
    with pytest.raises(OptionError, match="standard input"):
        check_followed({"http://e/s": "-"})
    with pytest.raises(OptionError, match="does not exist"):
        check_followed({"http://e/s": str(tmp_path / "gone")})


@pytest.mark.parametrize("option", ["trigger", "max_events"])
def test_the_pace_is_for_runs_that_go_on(option: str) -> None:
    given = {"trigger": "5s", "max_events": 3}
    for engine, words in (("spark", "add --follow"), ("local", "needs Spark")):
        with pytest.raises(OptionError) as error:
            check_engine(engine, SparkOptions(**{option: given[option]}))  # type: ignore[arg-type]
        assert words in str(error.value)
        assert f"--{option.replace('_', '-')}" in str(error.value)


def test_triggers() -> None:
    assert trigger_interval("200ms") == "200 milliseconds"
    assert trigger_interval(None) is None
    for wrong in ("5", "0s", "10us", "soon"):
        with pytest.raises(OptionError, match="--trigger"):
            trigger_interval(wrong)


def test_watermarks_in_the_times_of_the_run() -> None:
    at = Standing(1, 1.0, "2026-01-01T00:00:05.000Z", 0, 0)
    assert watermark(at, TimeKind.DATETIME, "ms") == "2026-01-01T00:00:05Z"
    early = Standing(1, 1.0, "1970-01-01T00:00:00.055Z", 0, 0)
    assert watermark(early, TimeKind.INTEGER, "us") == 55_000
    assert watermark(Standing(1, 1.0, "1970-01-01T00:00:00.000Z", 0, 0), TimeKind.INTEGER, "ms") is None
    assert watermark(Standing(1, 1.0, None, 0, 0), TimeKind.INTEGER, "ms") is None


def test_terms_of_result_columns() -> None:
    assert term_of(("uri", "a:b", None, None)) == IRI("a:b")
    assert str(term_of(("bnode", "x", None, None))) == "_:x"
    assert str(term_of(("literal", "x", None, "en"))) == '"x"@en'
    assert str(term_of(("literal", "x", None, None))) == '"x"'
    with pytest.raises(ValueError, match="without a value"):
        term_of(("uri", None, None, None))


def test_standard_input_is_spooled_for_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    class Pipe:
        buffer = io.BytesIO(b"<a:s> <a:p> <a:o> <a:g> .\n")

    monkeypatch.setattr(sys, "stdin", Pipe())
    assert spooled("a.nq", tmp_path) == "a.nq"
    assert Path(spooled("-", tmp_path)).read_bytes().startswith(b"<a:s>")


def test_signals_are_given_back() -> None:
    from scepter.cli.stopping import stopping

    before = signal.getsignal(signal.SIGTERM)
    with stopping("stopping") as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before


def letter(line: int, count: int = 1) -> DeadLetter:
    return DeadLetter("a.nq", line, "a missing dot at the end", "x", count)


def lines_of(path: Path) -> list[int]:
    return [json.loads(line)["line"] for line in path.read_text().splitlines()]


def test_letters_are_written_with_their_micro_batch_each_once(tmp_path: Path) -> None:
    output, dead = tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    first = FollowedOutput(output, tmp_path, jsonl, dead)
    first.take(0, answers(1), [letter(1), letter(2, 5)])
    assert lines_of(dead) == [1, 2]  # visible while the run goes on
    assert first.letters == 6
    with output.open("a") as torn, dead.open("a") as torn_letters:  # killed within the next micro-batch
        torn.write('{"start"')
        torn_letters.write('{"source": "a.nq", "line": 3}\n{"sou')
    second = FollowedOutput(output, tmp_path, jsonl, dead)
    second.take(0, answers(1), [letter(1)])  # Spark had not heard that it was done
    second.take(1, answers(2), [letter(3)])
    first.close()
    second.close()
    assert (ends(output), lines_of(dead)) == ([1, 2], [1, 2, 3])


def test_letters_alone_have_a_record_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dead = tmp_path / "dead.jsonl"
    for batch in (0, 0, 1):
        written = FollowedOutput(None, tmp_path, jsonl, dead)
        written.take(batch, [], [letter(batch)])
        written.close()
    assert lines_of(dead) == [0, 1]


def test_a_run_without_letters_in_between_loses_none(tmp_path: Path) -> None:
    output, dead = tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    for batch, path in enumerate([dead, None, dead]):
        written = FollowedOutput(output, tmp_path, jsonl, path)
        written.take(batch, answers(batch), [letter(batch)])
        written.close()
    assert (ends(output), lines_of(dead)) == ([0, 1, 2], [0, 2])


def test_a_record_of_before_goes_on(tmp_path: Path) -> None:
    output, dead = tmp_path / "out.jsonl", tmp_path / "dead.jsonl"
    output.write_text('{"end": 1}\n')
    dead.write_text('{"line": 7}\n')
    (tmp_path / "output.json").write_text(json.dumps({"batch": 4, "bytes": 11}))
    written = FollowedOutput(output, tmp_path, jsonl, dead)
    written.take(4, answers(9), [letter(9)])
    written.take(5, answers(2), [letter(8)])
    written.close()
    assert (ends(output), lines_of(dead)) == ([1, 2], [7, 8])


@pytest.mark.parametrize("damage", [b"", b"{", b"x" * 90, None])
def test_a_damaged_record_is_an_error_that_says_what_to_do(tmp_path: Path, damage: bytes | None) -> None:
    output = tmp_path / "out.jsonl"
    written = FollowedOutput(output, tmp_path, jsonl)
    written.take(0, answers(1))
    written.close()
    record = tmp_path / "output.json"
    record.write_bytes(record.read_bytes()[:-1] if damage is None else damage)
    with pytest.raises(OptionError, match="is damaged"):
        FollowedOutput(output, tmp_path, jsonl)


def test_behind_the_output_of_another_query_micro_batches_count_anew(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    first = FollowedOutput(output, tmp_path, csv)
    first.take(0, answers(1, 2))
    first.close()
    begin_anew(tmp_path / RECORD)
    second = FollowedOutput(output, tmp_path, csv)
    assert second.take(0, answers(3)) == 1
    second.close()
    assert len(output.read_text().splitlines()) == 4 and output.read_text().count("start") == 1
    begin_anew(tmp_path / RECORD)
    with pytest.raises(OptionError) as caught:
        FollowedOutput(output, tmp_path, lambda out, written: open_writer("csv", out, Shape(("y",))))
    assert caught.value.code == "output-changed"
    elsewhere = FollowedOutput(tmp_path / "other.csv", tmp_path, csv)
    elsewhere.take(0, answers(3))
    elsewhere.close()
    assert len((tmp_path / "other.csv").read_text().splitlines()) == 2


def test_a_run_with_a_checkpoint_makes_no_other_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is killed would leave it behind."""
    temporary, checkpoint = tmp_path / "tmp", tmp_path / "checkpoint"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with places(checkpoint) as (place, letters):
        assert place == checkpoint and letters.is_dir()
        assert not list(temporary.iterdir())
    with places(None) as (place, letters):
        assert list(temporary.iterdir()) == [place] and letters.is_relative_to(place)
    assert not list(temporary.iterdir())
