"""How much a run may do: seconds, memory, matches, partial matches. A query may ask for more than any machine has, and no one
can tell before.

Seconds are watched by a timer that interrupts the run in the main thread, where nothing is at work that others share; elsewhere
they are looked at between steps. Memory is
what the system grants the process: an allocation beyond it fails, and ends the run with an error instead of the process.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from scepter.errors import DataError, Diagnostic, OptionError, option_error

if TYPE_CHECKING:
    from scepter.runtime.matches import Match

_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE: Final = re.compile(r"\s*([0-9]{1,15})\s*(?:([kmg])(?:i?b)?|b)?\s*\Z", re.IGNORECASE | re.ASCII)
_PAGES: Final = Path("/proc/self/statm")
_INSTANTS: Final = 10_000
_WHOLE: Final = ("scepter.kernel.texts", "scepter.kernel.static", "scepter.ontology", "numba", "llvmlite", "importlib")
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
        """Limits as a person writes them; raises OptionError.

        >>> WorkLimits.of(seconds="1.5", memory="2 GB").memory
        2147483648
        """
        return cls(
            None if seconds is None else _seconds(seconds),
            None if memory is None else _number("--max-memory", memory, sizes=True),
            None if matches is None else _number("--max-matches", matches),
            None if runs is None else _number("--max-runs", runs),
        )


NO_LIMITS: Final = WorkLimits()


def _seconds(given: float | str) -> float:
    try:
        found = float(given)
    except (ValueError, TypeError):
        found = 0.0
    if not 0 < found < 1e9:
        raise option_error("max-seconds", f"--max-seconds cannot be {given!r}", help="write a number of seconds above zero")
    return found


def _number(option: str, given: int | str, *, sizes: bool = False) -> int:
    found = _SIZE.match(str(given))
    if found is None or (found[2] and not sizes) or not int(found[1]):
        raise _refused(option, given, sizes)
    return int(found[1]) * _UNITS[(found[2] or "").lower()]


def _refused(option: str, given: int | str, sizes: bool) -> OptionError:
    ought = "a size such as 2 GB" if sizes else "a number above zero"
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

    def __init__(self, limits: WorkLimits, tell: Callable[[str], None]) -> None:
        self._most = limits.matches
        self._tell = tell
        self._given: Counter[tuple[int, int]] = Counter()

    def __call__(self, matches: Sequence[Match]) -> Sequence[Match]:
        """Those that may be given."""
        if self._most is None or not len(matches):
            return matches
        found, over = [], Counter[tuple[int, int]]()
        for match in matches:
            place = (match.query, match.end)
            self._given[place] += 1
            if self._given[place] > self._most:
                over[place] += 1
            else:
                found.append(match)
        for (query, end), count in over.items():
            most = f"more than {self._most} matches at {end} (--max-matches)"
            self._tell(f"query {query + 1}: {most}, {count} are left out")
        if len(self._given) > _INSTANTS:  # only the last ones can have more
            self._given = Counter(dict(sorted(self._given.items(), key=lambda each: each[0][1])[-_INSTANTS // 2 :]))
        return found


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
def watched(limits: WorkLimits) -> Iterator[None]:
    """Run something within its seconds and its memory."""
    with _memory(limits), _timer(limits):
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


@contextmanager
def _memory(limits: WorkLimits) -> Iterator[None]:
    if limits.memory is None:
        yield
        return
    try:
        import resource
    except ImportError:  # not on this system
        raise _no_limit() from None
    if not _PAGES.exists():
        raise _no_limit()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(_PAGES.read_text().split()[0]) * resource.getpagesize()
    wanted = now + limits.memory
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
