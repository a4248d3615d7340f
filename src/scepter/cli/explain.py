"""`scepter explain`: how a query will be run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scepter.cli.arguments import Language, QueryFile
from scepter.cli.inputs import existing_all
from scepter.cli.options import one_of
from scepter.cli.query import load_query

FORMATS = ("text", "mermaid", "svg", "json")


def explain(
    query_file: QueryFile,
    language: Language = None,
    format: Annotated[str, typer.Option(metavar="F", help=f"{' | '.join(FORMATS)}. Example: --format mermaid")] = "text",
    ontology: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="The schema that the run will be given (OBEP chooses reasoners by it). Example: --ontology s.ttl",
        ),
    ] = None,
) -> None:
    """Show the plan: algebra, automaton or join network, pushed windows, partition key."""
    one_of("--format", format, FORMATS)
    schemas = existing_all("--ontology", ontology or [])
    typer.echo(load_query(query_file, language).explain(format, schemas or None))
