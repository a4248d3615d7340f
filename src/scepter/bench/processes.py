"""CPU time and memory of a process and all that descends from it, as Linux tells them; elsewhere of the process alone."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """CPU seconds of this process, of its children that have ended and of its descendants that live."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system + sum(map(_cpu, descendants(os.getpid())))


def peak_bytes() -> int:
    """Resident memory at most: the peaks of this process and of its living descendants, added."""
    if not _PROC.exists():
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    # not ru_maxrss: a process inherits that of the one it was forked from
    return sum(_peak(pid) for pid in [os.getpid(), *descendants(os.getpid())])


def resident_bytes() -> int:
    """Resident memory of this process now; where the system does not tell, what it had at most."""
    fields = _read(_PROC / "self" / "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else peak_bytes()


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return sum(int(fields[i]) for i in (11, 12, 13, 14)) / _TICKS if fields else 0.0


def _peak(pid: int) -> int:
    for line in _read(_PROC / str(pid) / "status").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have, where the system tells."""
    if not _PROC.exists():
        return []
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _stat(pid: int) -> list[str]:
    """The fields behind the command's name, which may hold spaces: state, parent, …"""
    return _read(_PROC / str(pid) / "stat").rpartition(") ")[2].split()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""  # it has just ended
