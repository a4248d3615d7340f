"""How much a run may do: seconds, memory, matches, partial matches. A query may ask for more than any machine has, and no one
can tell before.

Seconds are watched by a timer that interrupts the run in the main thread, where nothing is at work that others share; elsewhere
they are looked at between steps. Memory is
what the system grants the process: an allocation beyond it fails, and ends the run with an error instead of the process.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from scepter.errors import DataError, Diagnostic, OptionError, option_error
from scepter.kept import BatchRecord
from scepter.kernel.interrupts import bounded_rows
from scepter.timeline import MAX_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.matches import Match

_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE: Final = re.compile(r"\s*([0-9]{1,15})\s*(?:([kmg])(?:i?b)?|b)?\s*\Z", re.IGNORECASE | re.ASCII)
_PAGES: Final = Path("/proc/self/statm")
_MEMORY: Final = Path("/proc/meminfo")
_GROUP: Final = Path("/sys/fs/cgroup")
_INSTANTS: Final = 10_000
INSTANTS: Final = "instants.json"
"""Where a followed run keeps how many matches its last instants have."""
_NO_LIMIT: Final = (None, "none")
FOLLOWED: Final = {"max_matches": "1000000", "max_runs": "10000000"}
"""The limits of a run that goes on where none are given: beyond what anybody reads of one instant, or keeps for one key, and
below what ends a process."""
_ROWS_OF_AN_INSTANT: Final = 1_000_000
STEP_EVENTS: Final = 1 << 16
"""So many events are taken before time moves on: fewer cost more calls, more cost memory."""
_LONGEST_STEP: Final = 4
"""Times as many at most, where many partial matches wait from step to step."""
_FOR_EACH_RUN: Final = 4
"""Events of a step for each partial match that waits: to write one out and to sweep it costs about what an event does."""
_FIRST_STEP: Final = 8
"""Events of the first step of a run with limits: eight parts in any order make 64 ** 8 rows of 64 events."""
_NO_ENDS: Final = np.empty(0, np.int64)
_SHORT_STEP: Final = 0.02
_LONG_STEP: Final = 0.2
"""Seconds of the processor."""
_WHOLE: Final = ("scepter.kernel.texts", "scepter.ontology", "numba", "llvmlite", "importlib")
"""Modules that are not interrupted: what they change is shared by queries and by runs, and may not be left half changed."""


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """The limits of a run; None: no limit."""

    seconds: float | None = None
    memory: int | None = None
    """Bytes that the run may take besides what the process has when it starts."""
    matches: int | None = None
    runs: int | None = None
    """Partial matches and other rows of state."""

    @classmethod
    def of(
        cls,
        seconds: float | str | None = None,
        memory: int | str | None = None,
        matches: int | str | None = None,
        runs: int | str | None = None,
    ) -> WorkLimits:
        """Limits as a person writes them, `none` for no limit; raises OptionError.

        >>> WorkLimits.of(seconds="1.5", memory="2 GB").memory
        2147483648
        """
        return cls(
            None if seconds in _NO_LIMIT else _seconds(seconds),
            None if memory in _NO_LIMIT else _number("--max-memory", memory, sizes=True),
            None if matches in _NO_LIMIT else _number("--max-matches", matches),
            None if runs in _NO_LIMIT else _number("--max-runs", runs),
        )

    @property
    def rows(self) -> int | None:
        """How many rows an operator may make at one instant: as many as may be kept, and never fewer than a million, since a
        later condition may drop them."""
        if self.matches is None and self.runs is None:
            return None
        return max(int(FOLLOWED["max_runs"]) if self.runs is None else self.runs, _ROWS_OF_AN_INSTANT)

    def with_room(self) -> WorkLimits:
        """Where matches or rows of state are limited and memory is not, memory is what is free: a step makes all of its rows
        before they are counted."""
        if self.memory is not None or (self.matches is None and self.runs is None):
            return self
        return replace(self, memory=available())


NO_LIMITS: Final = WorkLimits()
BROKEN_OFF: Final = {
    "max-seconds": "a step takes more than {0:g} seconds (--max-seconds)",
    "max-memory": "a step needs more than {1} bytes of memory (--max-memory)",
    "max-runs": "an operator makes more than {2} rows at one instant (--max-runs)",
}
"""Of a run that goes on: why a step was broken off, by the code of its error; given those limits."""


def _seconds(given: float | str | None) -> float:
    try:
        found = float(given or 0)
    except (ValueError, TypeError):
        found = 0.0
    if not 0 < found < 1e9:
        hint = "write a number of seconds above 0 and below 1,000,000,000"
        raise option_error("max-seconds", f"--max-seconds cannot be {given!r}", help=hint)
    return found


def _number(option: str, given: int | str | None, *, sizes: bool = False) -> int:
    found = _SIZE.match(str(given))
    if found is None or (found[2] and not sizes) or not int(found[1]):
        raise _refused(option, given, sizes)
    return int(found[1]) * _UNITS[(found[2] or "").lower()]


def _refused(option: str, given: int | str | None, sizes: bool) -> OptionError:
    ought = "a size such as 2 GB" if sizes else "a whole number from 1 to 999,999,999,999,999"
    return option_error(option.removeprefix("--"), f"{option} cannot be {given!r}", help=f"write {ought}")


def reached(code: str, message: str) -> DataError:
    """The error that ends a run at a limit."""
    return DataError(Diagnostic(code, message, help=f"narrow the query (windows, conditions), or raise --{code}"))


def check_matches(found: int, limits: WorkLimits) -> None:
    """Refuse to go on with more matches than there may be."""
    if limits.matches is not None and found > limits.matches:
        raise reached("max-matches", f"the query has more than {limits.matches} matches")


def check_runs(state: Callable[[], Mapping[str, int]], limits: WorkLimits) -> None:
    """Refuse a state that has grown too large; to count it costs something, and is done only if there is a limit."""
    if limits.runs is None:
        return
    rows = sum(count for name, count in state().items() if name not in ("texts", "nodes"))
    if rows > limits.runs:
        raise reached("max-runs", f"{rows} partial matches and other rows of state are more than {limits.runs}")


class PerInstant:
    """How many matches a query of a run that goes on may give at one instant; the others are left out, and counted.

    >>> limit = PerInstant(WorkLimits(matches=10), print)
    >>> limit([])
    []
    """

    def __init__(self, limits: WorkLimits, tell: Callable[[str], None], folder: Path | None = None) -> None:
        """With a folder, what was given is known to the run that goes on after a restart."""
        self._most = limits.matches
        self._tell = tell
        path = None if folder is None or limits.matches is None else folder / INSTANTS
        self._record = BatchRecord(path, "how many matches an instant has")
        self._given = _read_places(self._record.batches[-1][1] if self._record.batches else None)

    def __call__(self, matches: Sequence[Match], batch: int | None = None) -> Sequence[Match]:
        """Those that may be given. A micro-batch that is done again counts once."""
        if self._most is None or not len(matches):
            return matches
        if batch is not None:
            self._given = _read_places(self._record.before(batch))
        more = Counter((match.query, match.end) for match in matches)
        room = {place: self._most - self._given[place] for place in more}
        over = {place: count - max(room[place], 0) for place, count in more.items() if count > room[place]}
        self._given += more
        if len(self._given) > _INSTANTS:  # only the last ones can have more
            self._given = Counter(dict(sorted(self._given.items(), key=lambda each: each[0][1])[-_INSTANTS // 2 :]))
        if batch is not None:
            self._record.take(batch, json.dumps([(*place, count) for place, count in self._given.items()]))
        if not over:
            return matches
        for (query, end), count in over.items():
            most = f"more than {self._most} matches at {end} (--max-matches)"
            self._tell(f"query {query + 1}: {most}, {count} are left out")
        return [match for match in matches if _takes(room, (match.query, match.end))]


def _takes(room: dict[tuple[int, int], int], place: tuple[int, int]) -> bool:
    room[place] -= 1
    return room[place] >= 0


def _read_places(text: str | None) -> Counter[tuple[int, int]]:
    return Counter({} if text is None else {(query, end): count for query, end, count in json.loads(text)})


class Pace:
    """How many events a run takes in one step.

    What a step makes is counted behind it. So a run with limits begins with small steps,
    since rows may grow with a power of the events, and takes longer ones as long as they are short.
    """

    def __init__(self, limits: WorkLimits, most: int) -> None:
        self._most, self._limited = most, limits != NO_LIMITS
        self.events = min(_FIRST_STEP, most) if self._limited else most
        self.waiting = 0
        """Events that were taken, and are in no step yet."""
        self._ends: list[NDArray[np.int64]] = []

    def take(self, ends: NDArray[np.int64]) -> None:
        """Events with these ends were taken."""
        self.waiting += len(ends)
        if self._limited:
            self._ends.append(ends)

    def instants(self, until: int) -> Iterator[int]:
        """Where the steps up to `until` end; the last one of a run is not among them."""
        self.waiting = 0
        if self._limited:
            ends = np.sort(np.concatenate([_NO_ENDS, *self._ends]))
            now, later = np.split(ends, [np.searchsorted(ends, until, "right")])
            self._ends, self.waiting = [later], len(later)
            while len(now) > self.events:
                instant = int(now[self.events - 1])
                now = now[np.searchsorted(now, instant, "right") :]
                began = time.process_time()
                yield instant
                taken = time.process_time() - began
                if taken < _SHORT_STEP:
                    self.events = min(2 * self.events, self._most)
                elif taken > _LONG_STEP:
                    self.events = max(self.events // 2, _FIRST_STEP)
        if until < MAX_INSTANT:
            yield until

    def wait(self, runs: float) -> None:
        """So many partial matches wait behind a step. Each is written out at its end and swept, whatever comes of it: so that
        this stays a part of the work, a step takes several times as many events, as long as nothing limits it.

        >>> pace = Pace(NO_LIMITS, 1000)
        >>> pace.wait(500)
        >>> pace.events
        2000
        """
        if not self._limited:
            self.events = int(min(max(self._most, _FOR_EACH_RUN * runs), _LONGEST_STEP * self._most))


class Clock:
    """Tells when the seconds are over."""

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits
        self._end = None if limits.seconds is None else time.monotonic() + limits.seconds

    def check(self) -> None:
        """Refuse to go on once they are."""
        if self._end is not None and time.monotonic() >= self._end:
            raise reached("max-seconds", f"the run takes more than {self._limits.seconds:g} seconds")


@contextmanager
def watched(limits: WorkLimits, since: int | None = None) -> Iterator[None]:
    """Run something within its seconds and its memory, counted from what the process had (`taken`), by default from now."""
    with _memory(limits, since), _timer(limits), bounded_rows(limits.rows):
        try:
            yield
        except MemoryError:
            if limits.memory is None:
                raise  # the system's own limit, which no option of the run has set
            raise reached("max-memory", f"the run needs more than {limits.memory} bytes of memory") from None


@contextmanager
def _timer(limits: WorkLimits) -> Iterator[None]:
    main = threading.current_thread() is threading.main_thread()
    if limits.seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return
    clock = Clock(limits)

    def ring(number: int, frame: FrameType | None) -> None:
        if not _is_whole(frame):
            clock.check()

    before = signal.signal(signal.SIGALRM, ring)
    # again and again: what may not be interrupted ends soon, and what swallows the error, as code that tries something may,
    # is interrupted once more
    signal.setitimer(signal.ITIMER_REAL, limits.seconds, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _is_whole(frame: FrameType | None) -> bool:
    """Whether something is at work that must be done to its end."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_WHOLE):
            return True
        frame = frame.f_back
    return False


def available() -> int | None:
    """The bytes that the system can still give, or the process's container; None where neither is told."""
    found = [
        int(line.split()[1]) << 10
        for line in (_MEMORY.read_text().splitlines() if _MEMORY.exists() else ())
        if line.startswith("MemAvailable:")
    ]
    granted, used = (_GROUP / name for name in ("memory.max", "memory.current"))
    if granted.exists() and used.exists() and granted.read_text().strip().isdigit():
        found.append(max(int(granted.read_text()) - int(used.read_text()), 1))
    return min(found, default=None)


def taken() -> int:
    """The bytes that the process has now."""
    try:
        import resource
    except ImportError:  # not on this system
        raise _no_limit() from None
    if not _PAGES.exists():
        raise _no_limit()
    return int(_PAGES.read_text().split()[0]) * resource.getpagesize()


@contextmanager
def _memory(limits: WorkLimits, since: int | None) -> Iterator[None]:
    if limits.memory is None:
        yield
        return
    wanted = (taken() if since is None else since) + limits.memory
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _no_limit() -> OptionError:
    return option_error(
        "max-memory",
        "this system cannot limit the memory of a process",
        help="leave out --max-memory, or run it in a container",
    )
