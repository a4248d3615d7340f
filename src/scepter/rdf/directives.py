"""Directives of N-Triples and N-Quads: VERSION, and the MESSAGE of logs of RDF Messages (called by `rdf.grouping`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scepter.inner import inner
from scepter.rdf.lexing import HASH, QUOTE, SPACE, TAB
from scepter.rdf.scanner import MESSAGES, line_end
from scepter.rdf.words import load_word

VERSION, MESSAGE = 1, 2
LOG, GRAPHS = 1, 2
"""What MESSAGES of a scan's state says of a log: each message is an event; the one that is read has named graphs."""
_APOSTROPHE: Final = 0x27
_WORD: Final = 7
"""Letters of each of the two words."""
_WORD_BITS: Final = np.uint64((1 << 8 * _WORD) - 1)
_MESSAGE_WORD: Final = np.uint64(int.from_bytes(b"MESSAGE", "little"))
_VERSION_WORD: Final = np.uint64(int.from_bytes(b"VERSION", "little"))
_HYPHEN: Final = 0x2D
_MESSAGES: Final = np.uint64(int.from_bytes(b"messages", "little"))


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
    word = load_word(buffer, at) & _WORD_BITS
    if last - at == _WORD and word == _MESSAGE_WORD:
        return MESSAGE if state[MESSAGES] else 0
    if last - at < _WORD + 3 or word != _VERSION_WORD:
        return 0
    at += _WORD
    while buffer[at] == SPACE or buffer[at] == TAB:
        at += 1
    quote = buffer[at]
    if (quote != QUOTE and quote != _APOSTROPHE) or last - at < 2 or buffer[last - 1] != quote:
        return 0
    if last - at >= 10 and buffer[last - 10] == _HYPHEN and load_word(buffer, last - 9) == _MESSAGES:
        state[MESSAGES] = LOG
    return VERSION
