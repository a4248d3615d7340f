"""Running cases: which files, on which engines, and what became of each."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from scepter.cases.compare import Answer, difference
from scepter.cases.loader import load_case
from scepter.cases.manifest import FILE_NAME, Manifest, load_manifest
from scepter.cases.model import Case, Refusal
from scepter.cases.selection import selector
from scepter.errors import QueryError, ScepterError, option_error

CaseEngine: TypeAlias = Callable[[Case], Sequence[Answer]]
"""Runs the query of a case over its streams; what the user did wrong comes as a ScepterError."""


class Status(Enum):
    """What became of a case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case run: `detail` is the difference, the error, or the reason for skipping it."""

    path: Path
    name: str
    status: Status
    detail: str
    seconds: float


def find_cases(paths: Sequence[Path]) -> list[Path]:
    """Every `*.case.yaml` below the folders, and the files named outright; each once, in order."""
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise option_error("no-such-path", f"there is no {path}")
        below = sorted(path.rglob("*.case.yaml")) if path.is_dir() else [path]
        if not below:
            raise option_error("no-cases", f"there is no *.case.yaml below {path}")
        found.update(dict.fromkeys(below))
    return list(found)


def run_cases(
    files: Iterable[Path],
    engines: Mapping[str, CaseEngine],
    *,
    select: str | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[CaseResult]:
    """Run case files one after the other; a broken file fails and the rest go on."""
    wanted = selector(select) if select is not None else None
    manifests = Manifests()
    for path in files:
        started = clock()
        name, language, failure = path.name, None, None
        try:
            case = load_case(path)
        except QueryError as error:
            # What cannot be read has no name or language to select it by: only its path.
            failure = str(error)
        else:
            name, language = case.name, case.language
        if wanted is not None and not wanted(f"{path} {name} {language or ''}"):
            continue
        listed = manifests.of(path)
        if failure is None:
            failure = _failure(case, engines)
            reason = None if listed is None else listed.reason(path.resolve(), language)
        else:
            reason = None  # a file that is no case is not waiting for an engine
        status, detail = _verdict(failure, reason, listed)
        yield CaseResult(path, name, status, detail, clock() - started)


class Manifests:
    """The `not-yet.yaml` that holds for each folder, each read once."""

    def __init__(self) -> None:
        self._by_folder: dict[Path, Manifest | None] = {}

    def of(self, case: Path) -> Manifest | None:
        """The manifest in a case's folder, or the nearest one above it."""
        return self._in(case.resolve().parent)

    def _in(self, folder: Path) -> Manifest | None:
        if folder not in self._by_folder:
            candidate = folder / FILE_NAME
            if candidate.is_file():
                self._by_folder[folder] = load_manifest(candidate)
            else:
                self._by_folder[folder] = None if folder.parent == folder else self._in(folder.parent)
        return self._by_folder[folder]


def _verdict(failure: str | None, reason: str | None, listed: Manifest | None) -> tuple[Status, str]:
    if reason is None or listed is None:
        return (Status.PASSED, "") if failure is None else (Status.FAILED, failure)
    if failure is None:
        return Status.FAILED, f"it passes, and {listed.path} lists it ({reason}): remove it from the manifest"
    return Status.SKIPPED, reason


def _failure(case: Case, engines: Mapping[str, CaseEngine]) -> str | None:
    """The differences per engine, None when every engine gives what was expected."""
    told = [(name, run_case(case, engine)) for name, engine in engines.items()]
    failures = [(name, text) for name, text in told if text is not None]
    if not failures:
        return None
    if len(engines) == 1:
        return failures[0][1]
    return "\n".join(f"on the {name} engine: {text}" for name, text in failures)


def run_case(case: Case, engine: CaseEngine) -> str | None:
    """What is wrong with one case on one engine, None when nothing is."""
    try:
        answers = engine(case)
    except ScepterError as error:
        return _refused(case, error)
    except Exception as error:
        # A fault of the engine fails this case; the others still run, and its trace goes into the report.
        return "the engine broke down:\n" + "".join(traceback.format_exception(error)).rstrip()
    return difference(case, answers)


def _refused(case: Case, error: ScepterError) -> str | None:
    told = str(case.in_file(error)) if isinstance(error, QueryError) else str(error)
    if not isinstance(case.expectation, Refusal):
        return told
    # Only what the message itself says counts: the excerpt of the query below it holds the words anyway.
    message = " ".join((error.diagnostic.message, *error.diagnostic.notes))
    if case.expectation.words in message:
        return None
    return f"an error that says {case.expectation.words!r} was expected, and the message is another one:\n{told}"
