"""`scepter compare`: two queries, or one query on both engines, over the same streams: which rows has only one of them?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from scepter.cli import session
from scepter.cli.arguments import QueryFile
from scepter.cli.inputs import assign_graphs, assign_streams, existing_all, split_streams
from scepter.cli.options import one_of, run_options
from scepter.cli.query import load_query
from scepter.errors import option_error
from scepter.runtime.queries import Query

ENGINES = ("local", "spark", "both")
_SHOWN = 10


def compare(
    query_file: QueryFile,
    other: Annotated[
        Path | None,
        typer.Argument(metavar="[OTHER_FILE]", help="The query to compare with, of any language. Example: power.epsparql"),
    ] = None,
    stream: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SOURCE", help="A stream of the queries, as in scepter run. Example: --stream S1=power.nq"),
    ] = None,
    background: Annotated[
        list[str] | None, typer.Option(metavar="[IRI=]FILE", help="Static RDF, for both. Example: --background houses.ttl")
    ] = None,
    ontology: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Schema, for both. Example: --ontology schema.ttl")
    ] = None,
    time_unit: Annotated[
        str | None,
        typer.Option(metavar="U", help="Length of a unit of integer timestamps (default ms). Example: --time-unit s"),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="E", help="local (default) | spark | both: one query on each. Example: --engine both")
    ] = "local",
) -> None:
    """Run two queries, or one on both engines, over the same streams, and show the rows that only one has, with what is nearest
    to the first of them in the other. The exit code is 1 when there are any."""
    one_of("--engine", engine, ENGINES)
    if (other is None) != (engine == "both"):
        raise option_error(
            "nothing-to-compare",
            "two things are compared: two queries on one engine, or one query on both",
            help="name a second query, or add --engine both" if other is None else "leave out --engine both",
        )
    queries = [load_query(path, None) for path in (query_file, other) if path is not None]
    sources = [_sources(query, queries, stream or []) for query in queries]
    with session.running(None, sources[0].values()) if engine != "local" else nullcontext() as spark:
        from scepter.cli.differences import Side, differences, gathered
        from scepter.cli.execute import Job, open_streams

        sides: list[Side] = []
        for place, engine_name in enumerate(("local", "spark") if engine == "both" else (engine, engine)):
            query, given = queries[place % len(queries)], sources[place % len(queries)]
            job = Job(
                query=query,
                streams=open_streams(query, given, {}),
                background=assign_graphs(query.lowered, background or []),
                ontology=existing_all("--ontology", ontology or []),
                options=run_options(query.lowered, time_unit=time_unit),
                engine=engine_name,
                sources=given,
                spark=spark,
            )
            sides.append(gathered(job, engine_name if engine == "both" else query.name))
    lines, differ = differences(sides[0], sides[1], _SHOWN)
    for line in lines:
        typer.echo(line)
    if differ:
        raise typer.Exit(1)


def _sources(query: Query, queries: Sequence[Query], given: Sequence[str]) -> dict[str, str]:
    """The sources of one query; a name that only the other one knows is no mistake."""
    sources, unknown = assign_streams(query, split_streams(query, given))
    for each in queries:
        if each is not query:
            elsewhere, _ = assign_streams(each, split_streams(each, given))
            unknown = unknown if len(elsewhere) + len(sources) < len(given) else []
            # a stream of the same IRI serves both, whichever of the queries knows its name
            sources |= {iri: source for iri, source in elsewhere.items() if iri in query.streams and iri not in sources}
    for warning in unknown:
        typer.echo(warning, err=True)
    return sources
