"""The folder of a run that goes on: whose it is, whether it is whole, and that nobody else is at work in it.

Spark keeps its place in `spark/`, the journal what is written in `output.json`, and `scepter.json` tells which query all of it
belongs to. A part that is missing or older than the others would not be noticed later: matches would be written twice, or not
at all.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

from scepter.cli.journal import RECORD, begin_anew, last_written
from scepter.cli.target import RUN_NAME
from scepter.errors import OptionError, option_error
from scepter.kept import sealed, unsealed, write_whole
from scepter.runtime.spark.advance import ADVANCE
from scepter.runtime.spark.answers import ANEW
from scepter.runtime.spark.checkpoint_parts import checked, forget_sums, last_batch
from scepter.runtime.spark.identity import CODE, Identity
from scepter.runtime.spark.live_skew import SKEWED
from scepter.runtime.spark.warm_up import FILE as WARM_UP
from scepter.runtime.spark.warm_up import Found
from scepter.runtime.work import INSTANTS

SPARK: Final = "spark"
IDENTITY: Final = "scepter.json"
LOCK: Final = "lock"
REPLACING: Final = "replacing.json"
BEFORE: Final = "before"
"""Where the state of a query is put whose place another one takes."""
_OWN: Final = (SPARK, IDENTITY, WARM_UP, ADVANCE.file, SKEWED.file, INSTANTS, RUN_NAME)


class Checkpoint:
    """The folder of a run; None: it keeps nothing."""

    def __init__(self, folder: Path | None, *, recorded: bool, replaces: bool = False) -> None:
        """`recorded`: whether the run writes files that the journal keeps a record of; `replaces`: whether it takes the place
        of a run of another query."""
        self._folder = folder
        self._recorded = recorded
        self._replaces = replaces
        if folder is not None:
            if (folder / REPLACING).exists():  # a crash has come between
                _replace(folder)
            forget_sums(folder / SPARK)
            self._check_parts(folder)

    @property
    def may_be_replaced(self) -> bool:
        """Whether `claim` may begin anew what is here."""
        return self._replaces and self._folder is not None and (self._folder / IDENTITY).exists()

    def claim(self, identity: Identity) -> Found:
        """Refuse a folder that holds the state of another query, or take its place; a new one is this query's from now on."""
        if self._folder is None:
            return Found()
        path = self._folder / IDENTITY
        told = _identity(path)
        if told is not None:
            identity = identity.going_on(told["of"].encode())
        if told is not None and (refused := identity.refusal(told["of"].encode(), str(self._folder))) is not None:
            if not self._replaces or refused.code != CODE:
                raise OptionError(refused)
            _begin_replacing(self._folder)
            told = None
        since = None if told is None else told["since"]
        watermark = _replaced(self._folder) if told is None else told.get("watermark")
        if self._recorded and since is None:
            since = last_batch(self._folder / SPARK / "commits", ANEW)
        kept = {"of": identity.written().decode(), "since": since, "watermark": watermark}
        write_whole(path, sealed(json.dumps(kept).encode()))
        (self._folder / REPLACING).unlink(missing_ok=True)
        return Found(last_batch(self._folder / SPARK / "offsets", ANEW) >= 0, watermark, identity.buckets)

    def _check_parts(self, folder: Path) -> None:
        offset, commit = checked(folder / SPARK, ANEW)
        written = last_written(folder / RECORD)
        told = _identity(folder / IDENTITY)
        if commit >= 0 and told is None:
            raise option_error(
                "checkpoint-incomplete",
                f"{folder} holds state, but {IDENTITY} is missing: nobody can tell of which query",
                notes=("an older version of Scepter has written it, or the file was deleted",),
                help=f"give back the file, go on with the version that wrote it, or {ANEW}",
            )
        if written > offset:
            raise _apart(folder, f"{RECORD} says that micro-batch {written} is written", f"{SPARK}/ ends at {_told(offset)}")
        since = None if told is None else told["since"]
        if self._recorded and since is not None and written < commit > since:
            raise _apart(folder, f"{SPARK}/ says that micro-batch {commit} is done", f"{RECORD} ends at {_told(written)}")


def opened(folder: Path | None, *, recorded: bool, replaces: bool = False) -> AbstractContextManager[Checkpoint]:
    """The checkpoint of a run, for as long as it runs; a second run is refused meanwhile."""
    return nullcontext(Checkpoint(None, recorded=recorded)) if folder is None else _locked(folder, recorded, replaces)


@contextmanager
def _locked(folder: Path, recorded: bool, replaces: bool) -> Iterator[Checkpoint]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise option_error(
            "checkpoint-not-writable", f"{folder} cannot be written: {error.strerror}", help="name a folder that can"
        ) from None
    try:
        _take(lock, folder)
        yield Checkpoint(folder, recorded=recorded, replaces=replaces)
    finally:
        os.close(lock)  # which lets go of it; so does the end of the process, however it ends


def _begin_replacing(folder: Path) -> None:
    """Another query takes this folder over. A crash on the way is found by the next start, which goes on with it."""
    shutil.rmtree(folder / BEFORE, ignore_errors=True)
    told = {"watermark": _watermark(folder / SPARK)}
    write_whole(folder / REPLACING, sealed(json.dumps(told).encode()))
    _replace(folder)


def _replace(folder: Path) -> None:
    """Put aside what the run before has kept; what it has written stays."""
    before = folder / BEFORE
    before.mkdir(exist_ok=True)
    for name in _OWN:
        if (folder / name).exists():
            (folder / name).replace(before / name)
    begin_anew(folder / RECORD)


def _replaced(folder: Path) -> int | None:
    """How far the run was whose place is taken; None where none is."""
    if not (path := folder / REPLACING).exists():
        return None
    watermark: int | None = json.loads(unsealed(path.read_bytes()) or b"{}").get("watermark")
    return watermark


def _watermark(spark: Path) -> int | None:
    """Up to where a run has surely told everything, in Spark's milliseconds; None if it has told nothing for certain."""
    commit = last_batch(spark / "commits", ANEW)
    if commit < 0:
        return None
    _, metadata, *_ = (spark / "offsets" / str(commit)).read_text(encoding="utf-8").splitlines()
    return int(json.loads(metadata)["batchWatermarkMs"]) or None


def _take(lock: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on this system: Spark's own logs are all there is
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.pread(lock, 20, 0).decode(errors="replace").strip()
        raise option_error(
            "checkpoint-in-use",
            f"{folder} is in use by another run{f' (process {owner})' if owner else ''}",
            help="stop that run first, or name another --checkpoint: two runs would undo each other's work",
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)


def _identity(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    data = unsealed(path.read_bytes())
    if data is None:
        raise option_error(
            "checkpoint-damaged",
            f"{path} is damaged: nobody can tell of which query the state is",
            help=f"give back the file, or {ANEW}",
        )
    found: dict[str, Any] = json.loads(data)
    return found


def _told(batch: int) -> str:
    return "none" if batch < 0 else f"micro-batch {batch}"


def _apart(folder: Path, one: str, other: str) -> OptionError:
    return option_error(
        "checkpoint-incomplete",
        f"a part of {folder} is missing: {one}, and {other}",
        notes=("going on would lose matches or write them twice",),
        help=f"give back the whole folder as it was, or {ANEW}",
    )
