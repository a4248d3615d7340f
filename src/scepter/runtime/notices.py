"""What a run says about its data while it goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from scepter.rdf.batch import DeadLetter
from scepter.rdf.source import DeadLetterTaker

_log = logging.getLogger("scepter")

_NOTICE: Final = "notice"
LIMIT: Final = "limit"
"""Stands where a letter has its source, and tells what a limit of the run has made it forget."""
TIMES: Final = "times"
"""Stands where a letter has its source, and tells how far time is."""
SKEW: Final = "skew"
"""Stands where a letter has its source, and tells which keys are hot."""
SCHEMA_IGNORED: Final = "a stream carries schema statements, which are ignored: the schema of a run is fixed"


class Notices:
    """Each thing is said once, whichever of the run's queries finds it.

    >>> heard = []
    >>> notices = Notices(heard.append)
    >>> notices.tell("so"); notices.tell("so")
    >>> heard, "so" in notices
    (['so'], True)
    """

    __slots__ = ("_said", "_say")

    def __init__(self, say: Callable[[str], None] = _log.warning) -> None:
        self._say = say
        self._said: set[str] = set()

    def __contains__(self, text: object) -> bool:
        return text in self._said

    def tell(self, text: str) -> None:
        """Say it, if it has not been said."""
        if text not in self._said:
            self._said.add(text)
            self._say(text)


def sent(report: DeadLetterTaker) -> Notices:
    """Notices of a task elsewhere: they take the way of its dead letters."""
    return Notices(lambda text: report(DeadLetter(_NOTICE, None, text)))


def received(
    letters: Iterable[DeadLetter], notices: Notices, told: Callable[[str, str], None] = lambda subject, text: None
) -> Iterator[DeadLetter]:
    """Letters without the notices among them, and without what the driver is told: the subject, and what is known of it."""
    for letter in letters:
        if letter.source == _NOTICE:
            notices.tell(letter.reason)
        elif letter.source in (TIMES, SKEW):
            told(letter.source, letter.reason)
        else:
            yield letter
