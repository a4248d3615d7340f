"""Inputs that are grown from those that reached new lines: coverage-guided fuzzing of every reader and every parser.

The kernels run as Python (`NUMBA_DISABLE_JIT`), so that their branches count as those of all other code do. The coverage of an
input is which lines of scepter it reaches, two after each other; an input with a pair that none had before joins those that are
mutated. Everything goes by seeds, and ends after so many inputs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

from scepter.errors import ScepterError
from torture.mutants import SLOW, doing, mutated, others, seeds

_OURS: Final = f"{os.sep}scepter{os.sep}"
_LONGEST: Final = 20_000
"""Bytes: inputs that grow further only take longer."""


class Trace:
    """The pairs of lines, one after the other in one function, that have been reached."""

    def __init__(self) -> None:
        self.reached: set[tuple[int, int, int]] = set()
        self.new = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """What `sys.settrace` calls for each function."""
        code = frame.f_code
        if _OURS not in code.co_filename:
            return None
        number, before = id(code), 0
        reached = self.reached

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal before
            pair = (number, before, frame.f_lineno)
            before = frame.f_lineno
            if pair not in reached:
                reached.add(pair)
                self.new += 1
            return line

        return line


@dataclass(slots=True)
class Grown:
    """What came of growing the inputs of one reader or parser."""

    what: str
    inputs: int = 0
    corpus: list[bytes] = field(default_factory=list)
    pairs: int = 0
    wrong: list[str] = field(default_factory=list)


def grow(what: str, originals: list[bytes], attempt: Callable[[bytes], None], count: int, seed: int) -> Grown:
    """So many inputs, each a mutant of one that reached something new."""
    found, trace = Grown(what), Trace()
    draw = random.Random(f"guided {what} {seed}")
    for number in range(len(originals) + count):
        first = number < len(originals)
        # the last ones are mutated most: they have come furthest
        data = originals[number] if first else mutated(found.corpus[-1 - int(draw.expovariate(0.1)) % len(found.corpus)], draw)
        trace.new, started = 0, time.process_time()
        trouble = _traced(trace, attempt, data)
        taken = time.process_time() - started
        # traced and interpreted, a byte costs a thousand times as much
        if trouble is None and taken > SLOW * (1 + len(data) / 1_000):
            trouble = f"{taken:.1f} seconds"
        if trouble is not None and not first:
            found.wrong.append(f"{what}: {trouble} with {data!r}")
        if (trace.new and len(data) < _LONGEST) or first:
            found.corpus.append(data)
        found.inputs += 1
    found.pairs = len(trace.reached)
    return found


def _traced(trace: Trace, attempt: Callable[[bytes], None], data: bytes) -> str | None:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        attempt(data)
    except ScepterError:
        return None
    except Exception:
        return traceback.format_exc(limit=-3)
    finally:
        sys.settrace(before)
    return None


def run(count: int, seed: int, only: str | None, say: Callable[[str], None]) -> int:
    """So many inputs of each reader and parser, in a process of its own whose kernels are Python; how many went wrong."""
    if only is not None:
        grown = grow(only, (seeds() | others())[only], doing(only), count, seed)
        for each in grown.wrong[:20]:
            say(each)
        kept = f"{grown.pairs} pairs of lines, {len(grown.corpus)} inputs kept"
        say(f"{only}: {grown.inputs} inputs, {kept}, {len(grown.wrong)} went wrong")
        return len(grown.wrong)
    wrong = 0
    for what in seeds() | others():
        asked = ["guided", "--count", str(count), "--seed", str(seed), "--only", what]
        plain = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        found = subprocess.run(
            [sys.executable, "-m", "torture", *asked], check=False, env=plain, capture_output=True, text=True
        )
        for line in found.stdout.splitlines():
            say(line)
        if found.returncode not in (0, 1):  # it has died
            say(f"{what}: {found.returncode} {found.stderr[-2_000:]}")
        wrong += bool(found.returncode)
    return wrong
