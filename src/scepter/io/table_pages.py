"""A table for people, laid out page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO, assert_never

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scepter.io.results import Match, Shape
from scepter.physical.explain.event_text import shortened
from scepter.rdf.terms import IRI, STRING, WELL_KNOWN_PREFIXES, XSD, BlankNode, Literal, Term
from scepter.runtime.matches import Match as Matched
from scepter.timeline import TimeKind, format_instant

TABLE_PAGE = 500
"""Rows laid out at once: enough to choose widths well, few enough that a long run shows rows as they come."""
_BARE = {XSD + name for name in ("integer", "decimal", "double", "boolean")}


class TableWriter:
    """A table for people: one per kind of answer, in pages, with times in words and IRIs shortened by the query's prefixes."""

    def __init__(self, out: TextIO, shape: Shape, events: bool, prefixes: Mapping[str, str]) -> None:
        self._out = out
        self._shape = shape
        self._with_events = events
        self._longest_first = sorted({**WELL_KNOWN_PREFIXES, **prefixes}.items(), key=lambda item: -len(item[1]))
        self._page: list[Match] = []

    def write(self, match: Match) -> None:
        """Take one match; a page is printed when it is full or the next match belongs to another query."""
        if self._page and (len(self._page) >= TABLE_PAGE or self._form(match) != self._form(self._page[0])):
            self._print_page()
        self._page.append(match)

    def write_all(self, matches: Sequence[Matched]) -> None:
        """Take some matches."""
        for match in matches:
            self.write(match)

    def close(self) -> None:
        """Print the last page."""
        if self._page:
            self._print_page()
        self._out.flush()

    def _form(self, match: Match) -> tuple[int | None, bool, bool, TimeKind]:
        """What the matches of a page have in common; rows that say which query they answer need no table for each."""
        query = None if self._shape.queries else match.query
        return query, match.graph is not None, match.boolean is not None, match.kind

    def _print_page(self) -> None:
        page, self._page = self._page, []
        table = self._layout(page[0])
        for match in page:
            table.add_row(*(Text(cell) for cell in self._cells(match)))
        console = Console(file=self._out, highlight=False, soft_wrap=False)
        if not console.is_terminal:
            # In a file nothing is cut or folded: the table gets the width it wants.
            console.width = max(1, console.measure(table, options=console.options.update(max_width=1_000_000)).maximum)
        console.print(table)

    def _layout(self, first: Match) -> Table:
        zone = " (UTC)" if first.kind is TimeKind.DATETIME else ""
        justify = "left" if first.kind is TimeKind.DATETIME else "right"
        table = Table()
        if self._shape.queries:
            table.add_column(Text("query"), overflow="fold")
        for name in ("start", "end"):
            table.add_column(Text(name + zone), justify=justify, no_wrap=True)  # type: ignore[arg-type]
        for name in self._columns(first):
            table.add_column(Text(name), overflow="fold")
        return table

    def _columns(self, first: Match) -> list[str]:
        if first.graph is not None:
            names = ["graph"]
        elif first.boolean is not None:
            names = ["answer"]
        else:
            names = [f"?{name}" for name in self._shape.variables]
        names += ["why"] if self._shape.whys else []
        return [*names, "events"] if self._with_events else names

    def _cells(self, match: Match) -> Iterator[str]:
        if (query := self._shape.query(match)) is not None:
            yield str(query)
        yield from (_readable(instant, match.kind) for instant in (match.start, match.end))
        if match.graph is not None:
            ordered = sorted(set(match.graph), key=lambda triple: tuple(map(str, triple)))
            yield "\n".join(" ".join(self._short(term) for term in triple) + " ." for triple in ordered)
        elif match.boolean is not None:
            yield "true" if match.boolean else "false"
        else:
            yield from (self._short(match.bindings.get(name)) for name in self._shape.variables)
        if self._shape.whys:
            yield "" if match.why is None else "\n".join(match.why.lines(match.kind, self._short, self._shortened))
        if self._with_events:
            yield "  ".join(f"{part}: {', '.join(map(str, names))}" for part, names in match.events.items())

    def _shortened(self, text: str) -> str:
        return shortened(text, dict(self._longest_first))

    def _short(self, term: Term | None) -> str:
        match term:
            case None:
                return ""
            case IRI(value):
                for prefix, namespace in self._longest_first:
                    local = value.removeprefix(namespace)
                    if local != value and local.replace("_", "").replace("-", "").isalnum():
                        return f"{prefix}:{local}"
                return str(term)
            case Literal(lexical, datatype) if datatype in _BARE:
                return lexical
            case Literal(lexical, datatype, None) if datatype != STRING:
                return f"{Literal(lexical)}^^{self._short(IRI(datatype))}"
            case Literal() | BlankNode():
                return str(term)
            case _:
                assert_never(term)


def _readable(instant: int, kind: TimeKind) -> str:
    return str(format_instant(instant, kind)).replace("T", " ").removesuffix("Z")
