"""Directives of N-Triples and N-Quads: VERSION, and the MESSAGE of logs of RDF Messages (called by `rdf.grouping`)."""

from __future__ import annotations

from typing import Any, Final

from scepter.inner import inner
from scepter.rdf.lexing import HASH, QUOTE, SPACE, TAB
from scepter.rdf.scanner import MESSAGES, line_end

VERSION, MESSAGE = 1, 2
LOG, GRAPHS = 1, 2
"""What MESSAGES of a scan's state says of a log: each message is an event; the one that is read has named graphs."""
_APOSTROPHE: Final = 0x27
_MESSAGE_WORD: Final = tuple(b"MESSAGE")
_VERSION_WORD: Final = tuple(b"VERSION")
_LABEL_END: Final = tuple(b"-messages")


@inner
def _starts(buffer: Any, at: Any, word: Any) -> Any:
    for i in range(len(word)):  # noqa: SIM110, numba has no generators here
        if buffer[at + i] != word[i]:
            return False
    return True


@inner
def directive_at(buffer: Any, at: Any, state: Any) -> Any:
    """MESSAGE in a log of messages, VERSION, or 0 if the line is no directive. A version whose label ends in -messages begins
    a log."""
    while buffer[at] == SPACE or buffer[at] == TAB:
        at += 1
    end = line_end(buffer, at)
    last = at
    while last < end and buffer[last] != HASH:
        last += 1
    while last > at and (buffer[last - 1] == SPACE or buffer[last - 1] == TAB):
        last -= 1
    if last - at == len(_MESSAGE_WORD) and _starts(buffer, at, _MESSAGE_WORD):
        return MESSAGE if state[MESSAGES] else 0
    if last - at < len(_VERSION_WORD) + 3 or not _starts(buffer, at, _VERSION_WORD):
        return 0
    at += len(_VERSION_WORD)
    while buffer[at] == SPACE or buffer[at] == TAB:
        at += 1
    quote = buffer[at]
    if (quote != QUOTE and quote != _APOSTROPHE) or last - at < 2 or buffer[last - 1] != quote:
        return 0
    if last - 1 - at >= len(_LABEL_END) and _starts(buffer, last - 1 - len(_LABEL_END), _LABEL_END):
        state[MESSAGES] = LOG
    return VERSION
