"""Memory that a process keeps for its next batch.

A batch of events is some arrays of megabytes, which are let go together. The C library hands such memory back to the system at
once and asks for it again for the next batch, and the system clears each page of it: a third of the time of reading rows.
"""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Final

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Of glibc's malloc.h."""
_KEPT: Final = 256 << 20
_LARGE: Final = 32 << 20
"""What is larger than that is handed back when it is let go: tables of the state, whole files."""
_ASKED: Final = 16 << 20
_CHOSEN: Final = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES", "LD_PRELOAD")


def keep_memory() -> bool:
    """Has malloc keep up to 256 MB that are free; whether it will. For processes of Scepter's own: a program that imports it
    decides for itself, and so does a person who has set one of malloc's variables."""
    if platform.libc_ver()[0] != "glibc" or any(name in os.environ for name in _CHOSEN):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    wanted = ((_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _KEPT), (_TOP_PAD, _ASKED))
    return all(mallopt(ctypes.c_int(name), ctypes.c_int(size)) for name, size in wanted)
