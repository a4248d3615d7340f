"""`scepter explain`: how a query will be run, or what it did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scepter.cli.arguments import Define, Language, QueryFiles
from scepter.cli.inputs import assign_graphs, assign_streams, existing_all, split_streams
from scepter.cli.maps import assign_maps
from scepter.cli.options import one_of, run_options
from scepter.cli.query import load_queries
from scepter.cli.session import running
from scepter.errors import option_error

FORMATS = ("text", "mermaid", "svg", "json", "html")
ENGINES = ("local", "spark")


def explain(
    query_file: QueryFiles,
    define: Define = None,
    language: Language = None,
    format: Annotated[str, typer.Option(metavar="F", help=f"{' | '.join(FORMATS)}. Example: --format mermaid")] = "text",
    ontology: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="The schema that the run will be given (OBEP chooses reasoners by it). Example: --ontology s.ttl",
        ),
    ] = None,
    analyze: Annotated[
        bool,
        typer.Option(
            "--analyze",
            help="Run the query and show, per operator, rows in and out, kept, memory and CPU; on Spark per stage too, with "
            "the skew between buckets. --format html is a page. Example: --analyze",
        ),
    ] = False,
    stream: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SOURCE", help="With --analyze: a stream, as for run. Example: --stream S1=power.nq"),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE", help="With --analyze: how rows become events, as for run. Example: --map readings.yml"
        ),
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE", help="With --analyze: a JSON-LD context, as for run. Example: --context readings.jsonld"
        ),
    ] = None,
    time_property: Annotated[
        list[str] | None,
        typer.Option(metavar="IRI", help="With --analyze: what gives events times, as for run. Example: --time-property sosa"),
    ] = None,
    max_delay: Annotated[
        str | None, typer.Option(metavar="D", help="With --analyze: the disorder allowed, as for run. Example: --max-delay 5")
    ] = None,
    background: Annotated[
        list[str] | None,
        typer.Option(metavar="[IRI=]FILE", help="With --analyze: static RDF, as for run. Example: --background db.ttl"),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="P", help="With --analyze: the policy, as for run. Example: --policy recent")
    ] = None,
    time_unit: Annotated[
        str | None, typer.Option(metavar="U", help="With --analyze: the time unit, as for run. Example: --time-unit s")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="E", help="With --analyze: local (default), this process, | spark. Example: --engine spark"),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(metavar="M", help="With --analyze on Spark: its master, as for run. Example: --master spark://host:7077"),
    ] = None,
) -> None:
    """Show the plan: the operators that run, what is not in columns and why, partition key."""
    one_of("--format", format, FORMATS)
    schemas = existing_all("--ontology", ontology or [])
    query = load_queries(query_file, language, define or ())
    if not analyze:
        _refuse({
            "--stream": stream, "--background": background, "--policy": policy, "--time-unit": time_unit, "--engine": engine,
            "--master": master, "--map": map, "--context": context, "--time-property": time_property, "--max-delay": max_delay,
            "--format html": True if format == "html" else None,
        })  # fmt: skip
        typer.echo(query.explain(format, schemas or None))
        return
    from scepter.cli.execute import open_streams  # which loads the engine
    from scepter.runtime.analysis import analyze as analyze_run

    engine = one_of("--engine", engine or ("local" if master is None else "spark"), ENGINES)
    options = run_options(
        query.lowered, policy=policy, time_unit=time_unit, time_property=time_property, max_delay=max_delay
    )  # fmt: skip
    sources, warnings = assign_streams(query, split_streams(query, stream or []))
    for warning in warnings:
        typer.echo(warning, err=True)
    lifts = assign_maps(query, map or [], context or [], sources, options.times)
    opened, static = open_streams(query, sources, lifts), assign_graphs(query.lowered, background or [])
    if engine == "local":
        found = analyze_run(query, opened, background=static, ontology=schemas or None, options=options)
    else:
        from scepter.cli.spark import analyze_on_spark

        with running(master, list(sources.values())) as session:
            found = analyze_on_spark(
                session(), query, sources, options, background=static, ontology=schemas or None, lifts=lifts
            )  # fmt: skip
    if format == "html":
        from scepter.io.report.work import analysis_page

        typer.echo(analysis_page(found))
        return
    typer.echo(found.text(format))


def _refuse(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise option_error("needs-analyze", f"{option} is for --analyze", help="add --analyze, which runs the query")
