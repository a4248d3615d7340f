"""The folder of a checkpoint that `scepter.run` is told: whose it is, whether it is whole, how many buckets its state has."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from scepter.errors import OptionError
from scepter.kept import sealed, unsealed
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.identity import Identity
from scepter.runtime.spark.kept_run import FILE, claimed
from scepter.timeline import TimeKind

QUERY = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }"
TOLD = json.dumps({"conf": {"spark.sql.shuffle.partitions": "2"}})


def identity(buckets: int = 32, text: str = QUERY, *, asked: bool = False) -> Identity:
    program = parse(text, "spaseq").program
    return Identity.of(program, RunOptions(), TimeKind.INTEGER, (IRI("http://e/s"),), text, buckets, asked=asked)


def batches(folder: Path, offsets: int, commits: int) -> None:
    """What Spark keeps, after so many micro-batches."""
    for part in ("_metadata", "0", "1"):
        (folder / "state" / "0" / part).mkdir(parents=True, exist_ok=True)
        for version in range(commits + 1):
            (folder / "state" / "0" / part / f"{version}.changelog").touch()
    (folder / "metadata").write_text('{"id": "1"}')
    for log, last in (("offsets", offsets), ("commits", commits)):
        (folder / log).mkdir(exist_ok=True)
        for number in range(last):
            (folder / log / str(number)).write_text(f"v1\n{TOLD}\n-")


def refused(folder: Path, now: Identity) -> list[str]:
    with pytest.raises(OptionError) as caught:
        claimed(folder, now)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3 and str(folder) in lines[0]
    return [caught.value.code, *lines]


def test_the_folder_of_a_checkpoint_tells_later_starts_how_many_there_are(tmp_path: Path) -> None:
    assert claimed(tmp_path, identity(400)).buckets == 400
    assert claimed(tmp_path, identity(80)).buckets == 80  # nothing was done yet
    batches(tmp_path, 1, 0)
    found = claimed(tmp_path, identity(4096))
    assert (found.goes_on, found.buckets) == (True, 80)
    assert identity(4096).in_buckets(80) == identity(80)
    assert "spark.scepter.buckets is 4096 now" in refused(tmp_path, identity(4096, asked=True))[1]


def test_without_a_folder_or_with_one_that_was_not_told_there_are_as_many_as_ever(tmp_path: Path) -> None:
    assert claimed(None, identity(400)).buckets == 32
    batches(tmp_path, 1, 0)
    assert claimed(tmp_path, identity(400)).buckets == 32
    assert claimed(tmp_path, identity(64, asked=True)).buckets == 64, "and state of another number then refuses it"
    assert not (tmp_path / FILE).exists()


def test_another_query_is_refused_before_anything_starts_and_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    claimed(tmp_path, identity())
    batches(tmp_path, 2, 1)
    before = (tmp_path / FILE).read_bytes()
    code, _, was, help = refused(tmp_path, identity(text=QUERY.replace("5", "6")))
    assert (code, was) == ("other-query", f"note: it was `{QUERY}`")
    assert help == "help: go back to what it was, or start anew with another checkpoint folder and another output"
    assert (tmp_path / FILE).read_bytes() == before
    assert claimed(tmp_path, identity(text=f"# new\n{QUERY}")).goes_on


def test_another_version_is_refused(tmp_path: Path) -> None:
    claimed(tmp_path, identity())
    batches(tmp_path, 2, 1)
    told = json.loads(unsealed((tmp_path / FILE).read_bytes()) or b"")
    told["of"] = json.dumps({**json.loads(told["of"]), "form": 4})
    (tmp_path / FILE).write_bytes(sealed(json.dumps(told).encode()))
    assert refused(tmp_path, identity())[0] == "other-version"


def test_without_sparks_part_new_matches_would_be_taken_for_old_ones(tmp_path: Path) -> None:
    claimed(tmp_path, identity())
    batches(tmp_path, 3, 2)
    claimed(tmp_path, identity())
    (tmp_path / "commits").rename(tmp_path / "done")
    claimed(tmp_path, identity())  # the last micro-batch is done again
    (tmp_path / "done").rename(tmp_path / "commits")
    claimed(tmp_path, identity())
    for part in ("offsets", "commits", "state"):
        (tmp_path / part).rename(tmp_path / f"no-{part}")
    code, words, *_ = refused(tmp_path, identity())
    assert code == "checkpoint-incomplete"
    assert "says that micro-batch 1 is done, and Spark's part ends at none" in words


@pytest.mark.parametrize("left", [0, 5])
@pytest.mark.parametrize(
    ("torn", "words"),
    [
        ("offsets/2", "offsets/2 is torn"),
        ("commits/1", "commits/1 is torn"),
        ("metadata", "metadata is torn"),
        (FILE, "of which query"),
    ],
)
def test_a_torn_file_is_named(tmp_path: Path, torn: str, words: str, left: int) -> None:
    claimed(tmp_path, identity())
    batches(tmp_path, 3, 2)
    (tmp_path / torn).write_bytes((tmp_path / torn).read_bytes()[:left])
    with pytest.raises(OptionError, match=words) as caught:
        claimed(tmp_path, identity())
    assert caught.value.code == "checkpoint-damaged" and "another checkpoint folder" in str(caught.value)


@pytest.mark.parametrize("gone", ["state", "state/0", "state/0/1", "state/0/_metadata", "metadata"])
def test_a_part_of_sparks_that_is_gone_is_named(tmp_path: Path, gone: str) -> None:
    batches(tmp_path, 3, 2)
    (tmp_path / gone).rename(tmp_path / "away")
    with pytest.raises(OptionError, match=f"`{'state' if gone == 'state/0' else gone}` is not there") as caught:
        claimed(tmp_path, identity())
    assert caught.value.code == "checkpoint-damaged"


def as_a_zip(folder: Path, version: int, files: list[str]) -> None:
    """A version of the store as RocksDB keeps it without logs of changes."""
    (folder / f"{version}.changelog").unlink()
    (folder / "SSTs").mkdir()
    for file in files:
        (folder / "SSTs" / file).touch()
    with zipfile.ZipFile(folder / f"{version}.zip", "w") as whole:
        whole.writestr("metadata", "v1\n" + json.dumps({"sstFiles": [{"dfsSstFileName": file} for file in files]}))


def test_a_version_of_the_store_that_is_gone_or_torn_is_named(tmp_path: Path) -> None:
    batches(tmp_path, 3, 2)
    part = tmp_path / "state" / "0" / "1"
    as_a_zip(part, 2, ["a.sst", "b.sst"])
    assert claimed(tmp_path, identity()).goes_on
    (part / "SSTs" / "b.sst").unlink()
    assert f"{tmp_path} is damaged: state/0/1/SSTs/b.sst is not there" in refused(tmp_path, identity())[1]
    (part / "2.zip").write_bytes((part / "2.zip").read_bytes()[:9])
    assert f"{tmp_path} is damaged: state/0/1/2.zip is torn" in refused(tmp_path, identity())[1]
    (part / "2.zip").rename(part / "1.zip")
    assert "its folder `state/0/1` has no state behind micro-batch 1" in refused(tmp_path, identity())[1]
    (part / "2_7c9e.zip").touch()  # as versions are called that have a name of their own
    assert claimed(tmp_path, identity()).goes_on


def test_metadata_of_state_that_is_torn_is_named(tmp_path: Path) -> None:
    batches(tmp_path, 3, 2)
    (tmp_path / "state" / "0" / "_metadata" / "v2").mkdir()
    for number, text in ((0, "v2"), (1, 'v2\n{"operatorInfo":{}}')):
        (tmp_path / "state" / "0" / "_metadata" / "v2" / str(number)).write_text(text)
    assert claimed(tmp_path, identity()).goes_on, "Spark reads the last one"
    (tmp_path / "state" / "0" / "_metadata" / "v2" / "1").write_text('v2\n{"op')
    assert "state/0/_metadata/v2/1 is torn" in refused(tmp_path, identity())[1]


def test_the_sum_of_an_entry_that_is_gone_is_not_in_the_way_of_the_next_one(tmp_path: Path) -> None:
    claimed(tmp_path, identity())
    batches(tmp_path, 3, 2)
    for number in (0, 1):
        (tmp_path / "commits" / f".{number}.crc").touch()
    (tmp_path / "commits" / "1").unlink()
    assert claimed(tmp_path, identity()).goes_on, "the last micro-batch is done again"
    assert sorted(path.name for path in (tmp_path / "commits").iterdir()) == [".0.crc", "0"]


def test_offsets_that_are_gone_are_named(tmp_path: Path) -> None:
    batches(tmp_path, 3, 2)
    (tmp_path / "offsets" / "2").unlink()
    (tmp_path / "offsets" / "1").unlink()
    with pytest.raises(OptionError, match="micro-batch 1 is done and its offsets are not there"):
        claimed(tmp_path, identity())


def test_state_goes_on_with_its_own_number() -> None:
    kept = identity(256).written()
    assert identity(32).going_on(kept) == identity(256)
    refused = identity(32, asked=True).going_on(kept).refusal(kept, "state")
    assert refused is not None and "spark.scepter.buckets is 32 now" in refused.message
    assert identity(32).going_on(kept).refusal(kept, "state") is None


def test_state_that_began_with_history_is_not_gone_on_with_by_a_run_that_does_not_know_it() -> None:
    begun = replace(identity(), options={**identity().options, "--warm-up": "5 to 9"})
    refused = identity().refusal(begun.written(), "state")
    assert refused is not None and refused.notes == ("it was 5 to 9",)
    assert begun.refusal(begun.written(), "state") is None
