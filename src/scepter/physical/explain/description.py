"""What there is to say about a physical plan: the facts that every format of `explain` shows.

The fields of these classes are the schema of `explain --format json` (version `SCHEMA`), names and all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scepter.algebra.notation import Notation
from scepter.algebra.query import Query
from scepter.algebra.text import format_node
from scepter.physical.distribution.partitioning import Partitioning, plan_partitioning
from scepter.physical.explain.automaton import Automaton, automaton_of
from scepter.physical.explain.notes import notes_of, warnings_of
from scepter.physical.explain.outline import Box, Outline
from scepter.physical.explain.wording import readable, title
from scepter.physical.metrics import Metrics, Skew, StageRun
from scepter.physical.nodes.nodes import Node, nodes
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.plan import PhysicalPlan, UnitPlan
from scepter.rdf.terms import IRI

SCHEMA = "scepter-explain/2"
"""The version of the JSON: a field may be added within it; to change or drop one is a new version."""


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """A stream the query reads; `constructed_by` is the number of the query of the file that makes it."""

    iri: str
    alias: str | None
    constructed_by: int | None


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """A node of the plan, which is an operator when it runs."""

    id: int
    """Its number in the plan of its unit: inputs come before what takes them."""
    operator: str
    """What kind of operator it is."""
    text: str
    details: tuple[str, ...]
    inputs: tuple[int, ...]
    variables: tuple[str, ...]
    exact: str
    """Why it works on terms, one by one; empty for one in columns."""
    estimate: int | None
    """How many rows it is thought to give, of static data; null where that is not known before the run."""
    work: Metrics | None
    """What it did in a run that was analysed; null before one."""
    skew: Skew | None = None
    """On Spark: how its work was divided among the tasks of its stage."""


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """One unit of a file: the tree of its operators, and what else there is to know."""

    number: int
    title: str
    streams: tuple[StreamFacts, ...]
    """None: it reads every stream given."""
    notes: tuple[str, ...]
    """`subject: sentence`."""
    columns: bool
    """Whether all of it runs in columns."""
    predicates: tuple[str, ...] | None
    """The predicates that it can use, None if that is all of them."""
    operators: tuple[OperatorFacts, ...]
    tree: Box
    """The operators as a tree, with what exact evaluators do inside."""
    partitioning: Partitioning
    """How it is divided, and why so."""
    automaton: Automaton | None
    """Of a sequence: its states and transitions."""
    warnings: tuple[str, ...]
    algebra: str | None
    """Of what is written as a sequence: the optimised algebra."""


@dataclass(frozen=True, slots=True)
class Description:
    """A file of queries, planned."""

    schema: str
    language: str
    time: str
    """The kind of timestamps it is planned for."""
    assumed: bool
    """Whether that kind is a guess: no stream has been looked at."""
    units: tuple[UnitFacts, ...]
    peak_memory: int | None = None
    """Bytes that the process had at most, of a plan that ran; on Spark the worker that had the most."""
    stages: tuple[StageRun, ...] = ()
    """Of a plan that ran on Spark: what its stages did."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of a plan did."""

    work: Sequence[Sequence[Metrics]] = ()
    """Of the operators of each unit, by their numbers."""
    peak_memory: int | None = None
    """Bytes that its process had at most."""
    skews: Sequence[Sequence[Skew | None]] = ()
    """On Spark, as `work`."""
    stages: Sequence[StageRun] = ()
    """On Spark."""


NOT_RUN: Final = Ran()


def describe(plan: PhysicalPlan, language: str, prefixes: Mapping[str, str], ran: Ran = NOT_RUN) -> Description:
    """The facts about a plan, and what its operators did in a run."""
    makers: dict[IRI, int] = {}
    for unit in plan.units:
        if unit.unit.into is not None:
            makers.setdefault(unit.unit.into, unit.number + 1)
    notation, count = Notation(prefixes), len(plan.units)
    done = ran.work or [()] * count
    skews = ran.skews or [()] * count
    units = tuple(
        _unit(unit, plan, title(language, unit.number + 1, count), makers, notation, each, skew)
        for unit, each, skew in zip(plan.units, done, skews, strict=True)
    )
    assert plan.facts.kind is not None  # a plan always tells it
    return Description(SCHEMA, language, plan.facts.kind.value, plan.assumed, units, ran.peak_memory, tuple(ran.stages))


def _unit(
    unit: UnitPlan,
    plan: PhysicalPlan,
    heading: str,
    makers: Mapping[IRI, int],
    notation: Notation,
    work: Sequence[Metrics],
    skews: Sequence[Skew | None],
) -> UnitFacts:
    sequence = unit.root if isinstance(unit.root, SequenceNode) else None
    numbered = list(nodes(unit.root))
    places = {id(node): place for place, node in enumerate(numbered)}
    about = Outline(unit, plan.facts.ontology, notation)
    operators = tuple(
        OperatorFacts(
            id=place,
            operator=type(node).__name__,
            text=readable(node.line(notation)),
            details=about.details(node),
            inputs=tuple(places[id(each)] for each in node.inputs),
            variables=tuple(name for name in node.schema.variables if not name.startswith("_:")),
            exact=node.exact,
            estimate=unit.estimates[place] if unit.estimates else None,
            work=work[place] if work else None,
            skew=skews[place] if skews else None,
        )
        for place, node in enumerate(numbered)
    )
    predicates = None if unit.predicates is None else tuple(sorted(notation.term(p) for p in unit.predicates))
    return UnitFacts(
        number=unit.number + 1,
        title=heading,
        streams=tuple(StreamFacts(s.iri.value, s.alias, makers.get(s.iri)) for s in unit.unit.streams),
        notes=tuple(notes_of(unit, plan, notation)),
        columns=not unit.exact,
        predicates=predicates,
        operators=operators,
        tree=_drawn(unit.root, operators, places, about),
        partitioning=plan_partitioning(unit, plan),
        automaton=None if sequence is None else automaton_of(sequence.plan, notation),
        warnings=warnings_of(unit),
        algebra=format_node(unit.unit, notation.prefixes) if isinstance(unit.unit, Query) else None,
    )


def _drawn(root: Node, facts: Sequence[OperatorFacts], places: Mapping[int, int], about: Outline) -> Box:
    """The operators below each other; one that several take stands below the first."""
    shown: set[int] = set()

    def drawn(node: Node) -> Box:
        told = facts[places[id(node)]]
        label = f"#{told.id} {told.text}"
        if told.id in shown:
            return Box(label, ("as above",))
        shown.add(told.id)
        reason = (f"not in columns: {told.exact}",) if told.exact else ()
        work = tuple(each.text() for each in (told.work, told.skew) if each is not None)
        expected = () if told.estimate is None else (f"estimate: {told.estimate:,} {'row' if told.estimate == 1 else 'rows'}",)
        return Box(label, (*work, *expected, *reason, *told.details), (*map(drawn, node.inputs), *about.inside(node)))

    return drawn(root)
