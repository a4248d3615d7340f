#!/usr/bin/env python3
"""Counts, per language, the units of cases/ and examples/ whose plan is wholly in columns, and says of the others why not.

    .venv/bin/python tools/columns.py

The floors that no change may fall below stand in tools/columns.json: raise them when more is in columns.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scepter.cases.loader import load_case
from scepter.cases.query import query_of
from scepter.cases.runner import find_cases
from scepter.cli.options import run_options
from scepter.errors import OptionError, QueryError
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.planning import facts_of, planned
from scepter.timeline import TimeKind

ROOT = Path(__file__).resolve().parents[1]
FLOORS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class Counted:
    """A unit of a case, and why it is not wholly in columns."""

    language: str
    case: str
    reasons: tuple[str, ...]


def units() -> Iterator[Counted]:
    """Every unit of every case that can be planned."""
    for path in find_cases([ROOT / "cases", ROOT / "examples"]):
        case = load_case(path)
        given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
        kind = next((event.kind for events in case.streams.values() for event in events), TimeKind.DATETIME)
        try:
            query = query_of(case)
            static = load_background(query, case.background, case.ontology)
            facts = facts_of(run_options(query.lowered, **given), static, load_ontology(query, case.ontology), kind)
        except (QueryError, OptionError):
            continue  # a case about an error
        for unit in planned(query.program, facts).units:
            yield Counted(query.language, str(path.relative_to(ROOT)), unit.exact)


def shares(found: list[Counted]) -> dict[str, float]:
    """Per language, the share of units that are wholly in columns."""
    languages = sorted({unit.language for unit in found})
    return {
        language: sum(not u.reasons for u in found if u.language == language) / sum(u.language == language for u in found)
        for language in languages
    }


def floors() -> dict[str, float]:
    """The shares that are kept."""
    recorded: dict[str, float] = json.loads(FLOORS.read_text(encoding="utf-8"))
    return recorded


def main() -> None:
    """Print the shares, and what is not in columns."""
    found = list(units())
    for language, share in shares(found).items():
        mine = [unit for unit in found if unit.language == language]
        shown = f"{sum(not unit.reasons for unit in mine):3} of {len(mine):3} in columns ({share:.0%})"
        sys.stdout.write(f"{language:10} {shown}\n")
    for unit in found:
        for reason in unit.reasons:
            sys.stdout.write(f"{unit.language:10} {unit.case}: {reason}\n")


if __name__ == "__main__":
    main()
