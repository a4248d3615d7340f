"""The options of a diagnosis and of a report, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scepter.cli.options import SparkOptions
from scepter.errors import option_error
from scepter.runtime.queries import Query


@dataclass(frozen=True, slots=True)
class Insight:
    """What is to be told about a run besides its matches."""

    diagnose: bool = False
    event: str | None = None
    key: Mapping[str, str] = field(default_factory=dict)
    report: Path | None = None

    def checked(self, query: Query) -> Insight:
        """The same, if the query has such variables, and the terms are terms."""
        if self.key:
            from scepter.insight.diagnosis.focus import Asked  # a run has no need of it

            Asked.of(query, self.event, self.key)
        return self


def key_terms(given: Sequence[str]) -> dict[str, str]:
    """`?card=:c7` as a variable and the text of a term.

    >>> key_terms(["?card=:c7", "n=5"])
    {'card': ':c7', 'n': '5'}
    """
    found = {}
    for each in given:
        name, equals, term = each.partition("=")
        name = name.strip().removeprefix("?")
        if not equals or not name or not term.strip():
            raise option_error("key", f"--key takes ?VAR=TERM, not {each!r}", help="for example --key ?card=:c7")
        if name in found:
            raise option_error("key", f"--key gives ?{name} twice", help="give it once")
        found[name] = term.strip()
    return found


def check_insight(engine: str, asked: SparkOptions, *, diagnose: bool, report: Path | None, about: bool) -> None:
    """Refuse to look at a run that does not end, to report one elsewhere, and to ask about an event without a diagnosis."""
    if about and not diagnose:
        raise option_error("no-diagnosis", "--event and --key say what a diagnosis is about", help="add --diagnose")
    if diagnose and asked.follow:
        raise option_error(
            "option-not-for-engine", "--diagnose looks at bounded input", help="leave out --follow, or leave out --diagnose"
        )
    if report is not None and (engine == "spark" or asked.given):
        instead = "take --engine local" if engine == "spark" else f"leave out {' and '.join(asked.given)}"
        raise option_error(
            "option-not-for-engine",
            "--report looks at a run over bounded input in this process",
            help=f"{instead}, or leave out --report",
        )


def check_again(engine: str, sources: Mapping[str, str], *, diagnose: bool) -> None:
    """A diagnosis reads the input again: after a run on Spark, standard input and pipes are gone."""
    gone = [source for source in sources.values() if source == "-" or Path(source).is_fifo()]
    if diagnose and engine == "spark" and gone:
        raise option_error(
            "option-not-for-engine",
            f"--diagnose reads {gone[0]!r} a second time after a run on Spark, and it can be read once",
            help="write it to a file, or take --engine local",
        )
