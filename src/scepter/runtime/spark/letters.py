"""Dead letters of tasks: each task writes its own file in a folder that driver and workers share."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark import TaskContext

from scepter.errors import option_error
from scepter.kept import naming
from scepter.rdf.batch import DeadLetter

_NAME: Final = re.compile(r"(?P<task>.+)-(?P<attempt>\d+)\.jsonl")


class FolderLetters:
    """Takes the dead letters of every task of a run. It is sent to the workers; a letter is on disk once it is taken, since
    nobody tells a task's readers when the task ends."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = str(Path(folder).absolute())
        self.run = uuid.uuid4().hex[:12]
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise option_error("dead-letter", f"{folder} is no folder for dead letters: {error.strerror}") from None

    def __call__(self, letter: DeadLetter) -> None:
        """Takes one letter."""
        context = TaskContext.get()
        task = "driver-0" if context is None else f"{context.stageId()}-{context.partitionId()}-{context.attemptNumber()}"
        path = Path(self.folder) / f"{self.run}-{task}.jsonl"
        with naming(path), path.open("a", encoding="utf-8", newline="\n") as out:
            out.write(json.dumps(letter.fields(), ensure_ascii=False) + "\n")


@contextmanager
def drained(folder: str | Path) -> Iterator[Iterator[DeadLetter]]:
    """The letters of a folder, which is left empty once they are taken. No task may be writing."""
    yield collected(folder)
    for path in Path(folder).glob("*.jsonl"):
        path.unlink()


def collected(folder: str | Path) -> Iterator[DeadLetter]:
    """The letters of a folder; of a task that was tried again, those of its last attempt."""
    last: dict[str, tuple[int, Path]] = {}
    for path in sorted(Path(folder).iterdir()):
        if (name := _NAME.fullmatch(path.name)) is not None:
            attempt = int(name["attempt"])
            if attempt >= last.get(name["task"], (0, path))[0]:
                last[name["task"]] = (attempt, path)
    for _, path in last.values():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield DeadLetter(**json.loads(line))
