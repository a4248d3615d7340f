"""The process that writes matches and dead letters, killed anywhere, often.

What a followed run keeps on disk is half Spark's and half its own: output, letters, the record of both, how far time is. Here
Spark's half is played: micro-batches are given in order, and one that is not committed is given again. The writer is a
forked process, so that a kill costs milliseconds and falls into its writes. The files must be, byte for byte, those of a writer
that nobody disturbed.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, TextIO

from scepter.cli.execute import shape
from scepter.cli.follow import FollowedOutput
from scepter.io.results import ResultWriter
from scepter.io.sources import open_source
from scepter.io.writers import open_writer
from scepter.kept import write_whole
from scepter.rdf.batch import DeadLetter
from scepter.runtime.jumps import Known
from scepter.runtime.local import run_local
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.advance import ADVANCE, written
from scepter.runtime.spark.telling import Record
from torture.programs import LANGUAGES, STREAM, program, stream

FORMATS: Final = ("jsonl", "csv", "tsv", "trig")
FILES: Final = ("out", "dead.jsonl")
_COMMIT: Final = "commit"
_BATCHES: Final = 40
_TURNS: Final = 400
"""So often a writer may be begun: one that comes no further is stuck."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the micro-batches of a run hand over."""

    matches: list[list[Match]]
    letters: list[list[DeadLetter]]
    open_on: Callable[[TextIO, int], ResultWriter]


def given(language: str, seed: int, format: str) -> Given:
    """The answers of a program over a stream, cut into micro-batches; some of them are empty."""
    query = parse(program(language, seed).text, language)
    letters: list[DeadLetter] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.nq"
        path.write_text("".join(stream(seed, 4, 60, 4)))
        options = RunOptions.of(max_delay=4)
        found = list(run_local(query, {STREAM: open_source(path)}, options=options, dead_letter=letters.append))
    draw = random.Random(f"writers {seed}")
    of_matches, of_letters = (
        [0, *sorted(draw.randrange(size + 1) for _ in range(_BATCHES - 1)), size] for size in (len(found), len(letters))
    )
    prefixes = dict(query.lowered.prefixes)
    shown = shape(query, options)
    return Given(
        [found[a:b] for a, b in pairwise(of_matches)],
        [letters[a:b] for a, b in pairwise(of_letters)],
        lambda text, written: open_writer(format, text, shown, events=False, prefixes=prefixes, written=written),
    )


def write(folder: Path, work: Given) -> None:
    """Go on behind the last micro-batch that is committed, to the end."""
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(parents=True, exist_ok=True)
    commit = checkpoint / _COMMIT
    done = int(commit.read_text()) if commit.exists() else -1
    out = FollowedOutput(folder / FILES[0], checkpoint, work.open_on, folder / FILES[1])
    times = Record(ADVANCE, checkpoint)
    for batch in range(done + 1, len(work.matches)):
        times.take(batch, written({0: Known(batch)}))
        out.take(batch, work.matches[batch], work.letters[batch])
        write_whole(commit, str(batch).encode())
    out.close()


def killed(folder: Path, work: Given, draw: random.Random) -> int:
    """Write, killed again and again until a writer comes to its end; how often it was."""
    for turn in range(_TURNS):  # each but the last is a kill
        child = os.fork()
        if not child:
            try:
                write(folder, work)
                os._exit(0)
            except BaseException:  # whatever it is, this process ends here
                os._exit(1)
        # longer from turn to turn: in the end one is left alone
        time.sleep(draw.uniform(0, 0.01 * (1 + turn / 20)))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the writer was refused"
            return turn
    raise AssertionError("the writer comes to no end")


def compare(folder: Path, language: str, seed: int) -> tuple[int, list[str]]:
    """How often a writer was killed, and which of its files differ from those of one that was not."""
    work = given(language, seed, FORMATS[seed % len(FORMATS)])
    (folder / "calm").mkdir(parents=True)
    write(folder / "calm", work)
    (folder / "killed").mkdir()
    kills = killed(folder / "killed", work, random.Random(f"killed {seed}"))
    return kills, _differing(folder / "calm", folder / "killed")


def _differing(calm: Path, other: Path) -> list[str]:
    return [name for name in FILES if (calm / name).read_bytes() != (other / name).read_bytes()]


def run(kills: int, seed: int, say: Callable[[str], None], languages: Sequence[str] = tuple(LANGUAGES)) -> int:
    """Runs of one language after the other until so many kills are done; how many differ."""
    done = failed = runs = 0
    while done < kills:
        language = languages[seed % len(languages)]
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            more, differing = compare(Path(folder), language, seed)
        done, runs, failed = done + more, runs + 1, failed + bool(differing)
        if differing:
            say(f"seed {seed} {language}: {', '.join(differing)} differ after {more} kills")
        seed += 1
    say(f"{done} kills of writers in {runs} runs: {failed} differ")
    return failed
