"""What the state of a live run depends on besides its events: the program, the options that bear on answers, the kind of time.

A checkpoint keeps it, and a run with another one is refused before it answers: state that means something else gives wrong
answers, not none. How a query is laid out, its comments and the names of its prefixes are no part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import SequenceMatcher
from enum import Enum
from typing import Any, Final

from scepter.algebra.query import Program
from scepter.algebra.timed import Rule
from scepter.errors import Diagnostic
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI
from scepter.runtime.options import RunOptions
from scepter.timeline import TimeKind

FORM: Final = 5
"""The written form of a live run's state, and where it lies: up to form 4 buckets had other keys."""
CODE: Final = "other-query"
VERSION_CODE: Final = "other-version"
BUCKETS: Final = "spark.scepter.buckets"
"""The setting of a session that tells how many buckets a live run has."""
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Identity:
    """The program and the options of a live run, as they are compared; and its text, as differences are told."""

    program: str
    options: Mapping[str, str]
    text: str = ""
    asked: bool = True
    """Whether the number of buckets was asked for; else a run goes on with the one that its state has."""

    @classmethod
    def of(
        cls,
        program: Program,
        options: RunOptions,
        kind: TimeKind,
        streams: Sequence[IRI],
        text: str = "",
        buckets: int = 32,
        *,
        asked: bool = True,
    ) -> Identity:
        """Of a run that is to start."""
        told = {
            "--policy": options.policy or "none",
            "--time-unit": options.time_unit,
            "--start": "none" if options.start is None else str(options.start.value),
            "--evaluate-at": "none" if options.evaluate_at is None else ", ".join(str(at.value) for at in options.evaluate_at),
            "--why": "on" if options.why else "off",
            "--max-derivations": str(options.max_derivations),
            BUCKETS: str(buckets),
            "the timestamps' kind": kind.value,
            "the streams": ", ".join(f"<{stream.value}>" for stream in streams),
        }
        return cls(canonical(program), told, text, asked)

    @property
    def key(self) -> TermKey:
        """The key of the run's term ids: a restart must use that of the state."""
        digest = hashlib.blake2b(self.program.encode(), digest_size=16, person=b"scepter-live").digest()
        return TermKey(int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little"))

    @property
    def buckets(self) -> int:
        """How many buckets it has."""
        return int(self.options[BUCKETS])

    def in_buckets(self, buckets: int) -> Identity:
        """With so many, unless others were asked for."""
        return self if self.asked else replace(self, options={**self.options, BUCKETS: str(buckets)})

    def going_on(self, kept: bytes) -> Identity:
        """As it goes on with the state of `kept`."""
        return self.in_buckets(int(json.loads(kept)["options"].get(BUCKETS, self.buckets)))

    def written(self) -> bytes:
        """As a checkpoint keeps it."""
        told = {"form": FORM, "program": self._digest(), "options": dict(self.options), "text": self.text}
        return json.dumps(told, ensure_ascii=False).encode()

    def _digest(self) -> str:
        return hashlib.blake2b(self.program.encode(), digest_size=16).hexdigest()

    def refusal(self, kept: bytes, where: str) -> Diagnostic | None:
        """Why a run with this identity cannot go on with the state of `kept`, in three lines; None if it can. `where` names the
        state."""
        told = json.loads(kept)
        if told["form"] != FORM:
            return Diagnostic(
                VERSION_CODE,
                f"{where} holds state in form {told['form']}, which another version of Scepter has written",
                notes=(f"this version writes and reads form {FORM}",),
                help="go on with the version that wrote it, or start anew with another checkpoint folder",
            )
        help = "go back to what it was, let --warm-up begin with the last of its history, or start anew with another folder"
        if told["program"] != self._digest():
            now, was = _difference(told["text"], self.text)
            return Diagnostic(CODE, f"{where} holds the state of another query: {now}", notes=(was,), help=help)
        for name in {**self.options, **told["options"]}:  # it may have begun with something that this one knows nothing of
            value, before = self.options.get(name, "none"), told["options"].get(name, "none")
            if value != before:
                return Diagnostic(
                    CODE, f"{where} holds the state of a run with other options: {name} is {value} now",
                    notes=(f"it was {before}",), help=help,
                )  # fmt: skip
        return None


def canonical(value: Any) -> str:
    """Algebra as text that tells all that is compared, and nothing of where it was written (a rule's label tells its line).

    >>> from scepter.algebra.expressions import Variable
    >>> canonical((Variable("x"), None, 3))
    "(Variable(name='x'), None, 3)"
    """
    match value:
        case Enum():
            return str(value.value)
        case tuple() | list():
            return f"({', '.join(map(canonical, value))})"
        case frozenset() | set():
            return "{" + ", ".join(sorted(map(canonical, value))) + "}"
        case Mapping():
            return "{" + ", ".join(sorted(f"{canonical(key)}: {canonical(each)}" for key, each in value.items())) + "}"
        case _ if is_dataclass(value) and not isinstance(value, type):
            seen = [f.name for f in fields(value) if f.compare and not (isinstance(value, Rule) and f.name == "label")]
            return f"{type(value).__name__}({', '.join(f'{name}={canonical(getattr(value, name))}' for name in seen)})"
        case _:
            return repr(value)


def _difference(before: str, now: str) -> tuple[str, str]:
    """The first place at which two texts differ in more than layout and comments: (what is there now, what was)."""
    old, new = list(_lines(before)), list(_lines(now))
    moves = SequenceMatcher(None, [line for _, line in old], [line for _, line in new], autojunk=False).get_opcodes()
    for tag, i1, i2, j1, j2 in moves:
        if tag == "equal":
            continue
        there = _quoted(line for _, line in old[i1:i2])
        here = _quoted(line for _, line in new[j1:j2])
        if not here:
            return (
                f"what stood before line {new[j1][0] if j1 < len(new) else now.count(chr(10)) + 1} is gone",
                f"it was {there}",
            )
        return f"line {new[j1][0]} is now {here}", f"it was {there}" if there else "there was nothing in its place"
    return "its text means something else now", "its words are the same: see its prefixes"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, by number, without layout and comments."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        begins = next((at for at, word in enumerate(words) if word.startswith("#")), len(words))
        if words[:begins]:
            yield number, " ".join(words[:begins])


def _quoted(lines: Iterator[str]) -> str:
    told = " ".join(lines)
    return f"`{told if len(told) <= _SHOWN else told[:_SHOWN] + '…'}`" if told else ""
