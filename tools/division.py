"""How every query of cases/ and examples/ is divided on Spark: in buckets of a key, in stages one behind another, by windows,
slices of time, or in one task.

    python tools/division.py [--units] [FOLDER …]

Counts the units by how they run over history and live; `--units` also lists those that run in one task, and why.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scepter.cases.loader import load_case
from scepter.cases.query import query_of
from scepter.cli.options import run_options
from scepter.errors import ScepterError
from scepter.physical.distribution.partitioning import PartitionKind, plan_partitioning, sequence_division
from scepter.physical.nodes.sequence_nodes import Refused
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.plan import PhysicalPlan
from scepter.rdf.terms import IRI
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.spark.shares import Form, Share, shares
from scepter.timeline import TimeKind

BUCKETS = 32
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Division:
    """How one unit runs."""

    case: str
    language: str
    unit: int
    history: str
    live: str
    why: str


def divisions(folder: Path) -> Iterator[Division]:
    """Of every unit of the cases in a folder that run."""
    for path in sorted(folder.rglob("*.case.yaml")):
        case = load_case(path)
        try:
            query = query_of(case)
            given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
            options = run_options(query.lowered, **given)
            static, schema = load_background(query, case.background, case.ontology), load_ontology(query, case.ontology)
            kind = next((event.kind for events in case.streams.values() for event in events), TimeKind.INTEGER)
            plan = planned(query.program, facts_of(options, static, schema, kind))
        except ScepterError:
            continue
        streams = [IRI(iri) for iri in query.streams]
        ways = [ways_of(plan, shares(plan, streams, BUCKETS, live=live), live=live) for live in (False, True)]
        for number, unit in enumerate(plan.units):
            if not isinstance(unit.root, Refused):
                why = plan_partitioning(unit, plan).why
                yield Division(str(path.relative_to(ROOT)), query.language, number, ways[0][number], ways[1][number], why)


def ways_of(plan: PhysicalPlan, found: tuple[Share, ...], *, live: bool) -> dict[int, str]:
    """The way of each unit of a plan."""
    return {number: _way(plan, share, number, live=live) for share in found for number in share.units}


def _way(plan: PhysicalPlan, share: Share, number: int, *, live: bool) -> str:
    if share.sources:
        return "stages"
    if share.form is Form.SOLUTIONS:
        root = plan.units[number].root
        assert isinstance(root, SequenceNode)
        kind = sequence_division(root.plan, live=live)
        return "one task" if kind is PartitionKind.ONE else kind.value
    if share.form is Form.ROWS:
        return "one task" if share.buckets == 1 else "grid" if share.sides else "key"
    return "slices" if share.slices is not None else "one task, a log" if live else "one task"


def counted(found: Sequence[Division], *, live: bool) -> dict[str, Counter[str]]:
    """How many units of each language run in which way."""
    counts: dict[str, Counter[str]] = {}
    for each in found:
        counts.setdefault(each.language, Counter())[each.live if live else each.history] += 1
    return counts


def main(arguments: Sequence[str]) -> None:
    """Print the counts."""
    folders = [Path(each).resolve() for each in arguments if not each.startswith("--")] or [ROOT / "cases", ROOT / "examples"]
    found = [each for folder in folders for each in divisions(folder)]
    for live in (False, True):
        sys.stdout.write("live\n" if live else "over history\n")
        for language, ways in sorted(counted(found, live=live).items()):
            told = ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))
            sys.stdout.write(f"  {language}: {told}\n")
    if "--units" in arguments:
        for each in found:
            if "one task" in each.history or "one task" in each.live:
                sys.stdout.write(f"{each.case}#{each.unit + 1}: {each.history} / {each.live}: {each.why}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
