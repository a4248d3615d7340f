"""Why an event occurred: the triples, the axioms and the occurrences that an answer rests on (`scepter run --why`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scepter.rdf.terms import IRI, Term, Triple, parse_term
from scepter.timeline import TimeKind, format_instant


@dataclass(frozen=True, slots=True)
class Why:
    """An event, with whom and when, and what it rests on.

    Of a logical event the triples are its minimal justification and `by` the axioms under which they are enough. Of a
    composite event `by` is its definition, and `parts` are the occurrences that its pattern was made of.
    """

    event: IRI
    individual: Term
    start: int
    end: int
    triples: tuple[Triple, ...]
    by: tuple[str, ...]
    parts: tuple[Why, ...] = ()

    def record(self, kind: TimeKind | None = None) -> dict[str, Any]:
        """As JSON; without a kind of time, instants are their numbers."""
        return {
            "event": self.event.value,
            "individual": self.individual.value if isinstance(self.individual, IRI) else str(self.individual),
            "start": self.start if kind is None else format_instant(self.start, kind),
            "end": self.end if kind is None else format_instant(self.end, kind),
            "triples": [[str(term) for term in triple] for triple in self.triples],
            "by": list(self.by),
            "parts": [part.record(kind) for part in self.parts],
        }

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Why:
        """From JSON whose instants are numbers."""
        individual = record["individual"]
        return cls(
            IRI(record["event"]),
            parse_term(individual) if individual.startswith("_:") else IRI(individual),
            record["start"],
            record["end"],
            tuple(Triple(*map(parse_term, triple)) for triple in record["triples"]),
            tuple(record["by"]),
            tuple(cls.read(part) for part in record["parts"]),
        )

    def lines(self, kind: TimeKind, term: Callable[[Term], str], text: Callable[[str], str], indent: str = "") -> Iterator[str]:
        """For people; `term` and `text` shorten IRIs."""
        when = format_instant(self.end, kind)
        if self.start != self.end:
            when = f"{format_instant(self.start, kind)} to {when}"
        yield f"{indent}{term(self.event)}({term(self.individual)}) at {when}"
        yield from (f"{indent}  by {text(each)}" for each in self.by)
        if self.parts:
            for part in self.parts:
                yield from part.lines(kind, term, text, indent + "  ")
        else:
            yield from (f"{indent}  {' '.join(map(term, triple))} ." for triple in self.triples)
