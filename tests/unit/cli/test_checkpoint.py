"""The folder of a run that goes on: another query's, a part of one, a torn one, one that is in use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scepter.cli.checkpoint import opened
from scepter.cli.journal import last_written
from scepter.errors import OptionError
from scepter.kept import sealed
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.identity import Identity
from scepter.runtime.spark.warm_up import Found
from scepter.timeline import TimeKind

QUERY = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"


def identity(text: str = QUERY, buckets: int = 32, *, asked: bool = False) -> Identity:
    program = parse(text, "spaseq").program
    return Identity.of(program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), text, buckets, asked=asked)


def batches(folder: Path, offsets: int, commits: int) -> None:
    """Spark's part, after so many micro-batches."""
    (folder / "spark" / "state" / "0" / "_metadata").mkdir(parents=True, exist_ok=True)
    (folder / "spark" / "state" / "0" / "_metadata" / "v2").mkdir(exist_ok=True)
    (folder / "spark" / "metadata").write_text('{"id": "1"}')
    for log, last in (("offsets", offsets), ("commits", commits)):
        (folder / "spark" / log).mkdir(exist_ok=True)
        for number in range(last):
            (folder / "spark" / log / str(number)).write_text("v1\n{}")


def written(folder: Path, batch: int) -> None:
    (folder / "output.json").write_bytes(sealed(json.dumps({"batch": batch, "bytes": {"output": 0}}).encode()))


def start(folder: Path, text: str = QUERY, *, recorded: bool = True) -> None:
    with opened(folder, recorded=recorded) as kept:
        kept.claim(identity(text))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint after three micro-batches, the third written and not committed."""
    start(tmp_path)
    batches(tmp_path, 3, 2)
    written(tmp_path, 2)
    return tmp_path


def test_a_run_goes_on_whatever_moment_it_was_killed_at(folder: Path) -> None:
    start(folder)
    written(folder, 1)
    start(folder, f"# changed\n{QUERY}")


def test_a_run_killed_between_a_file_and_its_checksum_goes_on(folder: Path) -> None:
    metadata = folder / "spark" / "state" / "0" / "_metadata" / "v2"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "2").write_text("v1\n{}")
    (metadata / ".2.crc").write_bytes(b"crc\0\0\0\2\0of the start before")
    rows = folder / "spark" / "state" / "0" / "0" / ".1.changelog.crc"
    rows.parent.mkdir()
    rows.touch()
    start(folder)
    assert [path.name for path in metadata.iterdir()] == ["2"]
    assert rows.exists()


def test_another_query_is_refused_and_the_folder_stays_as_it_is(folder: Path) -> None:
    with pytest.raises(OptionError) as caught:
        start(folder, QUERY.replace("WITHIN 5", "WITHIN 6"))
    assert caught.value.code == "other-query" and str(folder) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3
    start(folder)


def test_a_run_goes_on_in_the_buckets_that_its_state_has_however_many_cores_there_are_now(tmp_path: Path) -> None:
    for cores_want in (256, 32, 4096):
        with opened(tmp_path, recorded=True) as kept:
            assert kept.claim(identity(buckets=cores_want)).buckets == 256


def test_another_number_of_buckets_is_refused_where_it_is_asked_for(folder: Path) -> None:
    with opened(folder, recorded=True) as kept, pytest.raises(OptionError) as caught:
        kept.claim(identity(buckets=64, asked=True))
    assert str(caught.value).splitlines() == [
        f"error[other-query]: {folder} holds the state of a run with other options: spark.scepter.buckets is 64 now",
        "note: it was 32",
        "help: go back to what it was, let warm_up begin with the last of its history, or start anew with another folder",
    ]


def refused(folder: Path, code: str, *words: str, recorded: bool = True) -> None:
    with pytest.raises(OptionError) as caught:
        start(folder, recorded=recorded)
    assert caught.value.code == code
    assert str(folder) in str(caught.value) and "another --checkpoint" in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_without_sparks_part_new_matches_would_be_taken_for_old_ones(folder: Path) -> None:
    (folder / "spark").rename(folder / "away")
    refused(folder, "checkpoint-incomplete", "micro-batch 2 is written", "spark/ ends at none")


def test_without_the_record_the_output_would_begin_again(folder: Path) -> None:
    (folder / "output.json").unlink()
    refused(folder, "checkpoint-incomplete", "micro-batch 1 is done", "output.json ends at none")


def test_a_run_to_standard_output_keeps_no_record(tmp_path: Path) -> None:
    start(tmp_path, recorded=False)
    batches(tmp_path, 3, 3)
    start(tmp_path, recorded=False)
    start(tmp_path, recorded=True)  # from now on there is a file
    start(tmp_path, recorded=True)


def test_without_what_it_is_of_nobody_can_tell(folder: Path) -> None:
    (folder / "scepter.json").unlink()
    refused(folder, "checkpoint-incomplete", "scepter.json is missing")


@pytest.mark.parametrize(
    ("torn", "words"),
    [("spark/offsets/2", "offsets/2 is torn"), ("spark/commits/1", "commits/1 is torn"), ("scepter.json", "of which query")],
)
def test_a_torn_file_is_named(folder: Path, torn: str, words: str) -> None:
    (folder / torn).write_bytes(b"")
    refused(folder, "checkpoint-damaged", words)


def test_offsets_or_state_that_are_gone_are_named(folder: Path) -> None:
    (folder / "spark" / "state").rename(folder / "away")
    refused(folder, "checkpoint-damaged", "`state` is not there")
    (folder / "away").rename(folder / "spark" / "state")
    for entry in (folder / "spark" / "offsets").iterdir():
        entry.unlink()
    refused(folder, "checkpoint-damaged", "its offsets are not there")


def test_two_runs_do_not_share_a_folder(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from scepter.cli.checkpoint import opened\n"
        "with opened(Path(sys.argv[1]), recorded=True): print('here', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None and other.stdout.readline() == "here\n"
    refused(folder, "checkpoint-in-use", f"process {other.pid}")
    other.communicate("")
    start(folder)


def test_without_a_folder_nothing_is_kept() -> None:
    with opened(None, recorded=True) as kept:
        kept.claim(identity())


CHANGED = QUERY.replace("WITHIN 5", "WITHIN 6")


def replace_by(folder: Path, text: str = CHANGED) -> Found:
    with opened(folder, recorded=True, replaces=True) as kept:
        return kept.claim(identity(text))


@pytest.fixture
def committed(folder: Path) -> Path:
    for number, watermark in enumerate((0, 40, 90)):
        (folder / "spark" / "offsets" / str(number)).write_text(f'v1\n{{"batchWatermarkMs":{watermark}}}\n{{}}')
    return folder


def test_a_changed_query_with_a_warm_up_takes_the_place_of_the_one_before(committed: Path) -> None:
    assert replace_by(committed) == Found(goes_on=False, watermark=40, buckets=32)  # micro-batch 2 is not committed
    assert (committed / "before" / "spark" / "offsets" / "2").exists() and not (committed / "spark").exists()
    assert last_written(committed / "output.json") == -1
    assert replace_by(committed) == Found(goes_on=False, watermark=40, buckets=32)  # killed before its first micro-batch
    batches(committed, 1, 1)
    written(committed, 0)
    assert replace_by(committed) == Found(goes_on=True, watermark=40, buckets=32)
    assert (committed / "spark").exists()


def test_the_same_query_with_a_warm_up_goes_on(committed: Path) -> None:
    assert replace_by(committed, QUERY) == Found(goes_on=True, buckets=32)
    assert (committed / "spark").exists() and not (committed / "before").exists()


@pytest.mark.parametrize("moved", [(), ("spark",), ("spark", "scepter.json")])
def test_a_crash_while_a_place_is_taken_is_made_good(committed: Path, moved: tuple[str, ...]) -> None:
    (committed / "replacing.json").write_bytes(sealed(b'{"watermark": 40}'))
    (committed / "before").mkdir()
    for name in moved:
        (committed / name).rename(committed / "before" / name)
    assert replace_by(committed) == Found(goes_on=False, watermark=40, buckets=32)
    assert not (committed / "replacing.json").exists() and last_written(committed / "output.json") == -1


def test_what_another_version_has_written_is_not_replaced(committed: Path) -> None:
    told = json.loads(identity().written()) | {"form": 99}
    (committed / "scepter.json").write_bytes(sealed(json.dumps({"of": json.dumps(told), "since": None}).encode()))
    with pytest.raises(OptionError) as caught:
        replace_by(committed)
    assert caught.value.code == "other-version" and (committed / "spark").exists()
