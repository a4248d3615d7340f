"""`scepter run`: run a query over streams."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from scepter.cli import session
from scepter.cli.arguments import Define, Language, QueryFiles
from scepter.cli.engine import AUTO, choose_engine, input_bytes
from scepter.cli.inputs import assign_graphs, assign_streams, check_outputs, existing_all, split_streams, streams_of_folder
from scepter.cli.insight_options import Insight, check_again, check_insight, key_terms
from scepter.cli.maps import assign_maps
from scepter.cli.options import (
    SparkOptions,
    check_assigned,
    check_engine,
    check_work,
    one_of,
    run_options,
    trigger_interval,
)
from scepter.cli.query import load_queries
from scepter.cli.target import parse_target
from scepter.cli.versions import check_versions, reloaded, split_versions
from scepter.io.writers import FORMATS
from scepter.runtime.options import FUTURE
from scepter.runtime.versions import varying
from scepter.runtime.work import FOLLOWED


def run(
    query_file: QueryFiles,
    stream: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SOURCE",
            help="A stream: its IRI, alias or prefixed name in the query, and a file, glob, folder, - (stdin) or "
            "kafka://host:port/topic; with --follow also tcp://host:port. Once per stream. Example: --stream S1=power.nq",
        ),
    ] = None,
    streams: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder with a file or folder for each stream that --stream does not give, named as the last part of the "
            "stream's IRI. Example: --streams data/",
        ),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="How rows and documents become events (CSV, TSV, JSON, JSON lines, Parquet): a mapping in YARRRML or RML; "
            "with NAME= for that stream alone. Repeatable. Example: --map readings.yml",
        ),
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="A JSON-LD context for plain JSON and JSON lines, instead of a mapping; --time-property names the time. "
            "Repeatable. Example: --context readings.jsonld",
        ),
    ] = None,
    background: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[IRI=]FILE",
            help="Static RDF; without IRI= it goes to the default graph. Repeatable. "
            "Example: --background http://example/db=houses.ttl",
        ),
    ] = None,
    ontology: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Schema for entailment, in every language. Repeatable. Example: --ontology schema.ttl"
        ),
    ] = None,
    versions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IRI=SOURCE",
            help="RSEP-QL: a background graph that varies; each event of SOURCE is the whole graph from its time on. "
            "Repeatable. Example: --versions http://example/roads=roads.trig",
        ),
    ] = None,
    reload_background: Annotated[
        bool,
        typer.Option(
            "--reload-background",
            help="With --follow, RSEP-QL: read --background files again when they change; what they say then holds from the "
            "next instant on. Example: --reload-background",
        ),
    ] = False,
    define: Define = None,
    language: Language = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="unrestricted (default) | chronological | recent | naive, where the language takes one. "
            "Example: --policy recent",
        ),
    ] = None,
    time_unit: Annotated[
        str | None,
        typer.Option(
            metavar="U",
            help="us | ms | s | min | h | d: length of one unit of integer timestamps (default ms). Example: --time-unit s",
        ),
    ] = None,
    time_property: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IRI",
            help="What gives an event its time, about its name or inside its graph: an IRI, or prov | sosa | ssn | saref | "
            "activitystreams | ldes | ngsi-ld (default: PROV's properties about its name). Repeatable, the first one rules. "
            "Example: --time-property sosa",
        ),
    ] = None,
    assign_time: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="Times for events that have none: arrival, that of the clock when they are read, or sequence, 1, 2, 3 … "
            "(default: they are dead letters). Plain N-Triples are then a stream. Not on Spark. Example: --assign-time arrival",
        ),
    ] = None,
    event_per: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="With --assign-time: an event of plain triples is a line (default), or a group up to a blank line. "
            "Example: --event-per group",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="Origin of tumbling windows and landmark of the query (default: 0, the epoch). "
            "Example: --start 2026-01-01T00:00:00Z",
        ),
    ] = None,
    evaluate_at: Annotated[
        str | None,
        typer.Option(
            metavar="T,T,…",
            help="RSEP-QL, OBEP: the evaluation instants; default: whenever an event arrives. Example: --evaluate-at 8,10",
        ),
    ] = None,
    max_delay: Annotated[
        str | None, typer.Option(metavar="D", help="Allowed disorder (default 0). Example: --max-delay 5s")
    ] = None,
    max_advance: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="Hold back an event that alone would move time on by more than D until a second one confirms it; it is a "
            "dead letter if none does. Example: --max-advance 1h",
        ),
    ] = None,
    max_future: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="With --follow and dateTimes: what is further ahead of the clock is a dead letter (default 1h; "
            "none lifts it). Example: --max-future 5min",
        ),
    ] = None,
    max_derivations: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="EP-SPARQL: triples that rules may derive at one instant (default 10,000). Example: --max-derivations 100000",
        ),
    ] = None,
    max_seconds: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="End a run that takes longer, with an error; with --follow, a query whose step does begins anew. "
            "Example: --max-seconds 60",
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="End a run in this process that needs more memory, with an error; with --follow, a query whose step does "
            "begins anew. Example: --max-memory 4GB",
        ),
    ] = None,
    max_matches: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="End a run with more matches, with an error; with --follow, leave out what a query has more at one instant "
            "(default there 1000000; none: no limit). Example: --max-matches 1000000",
        ),
    ] = None,
    max_runs: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="End a run that holds more partial matches, with an error; with --follow, let go of a key that does "
            "(default there 10000000; none: no limit). Example: --max-runs 100000",
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="How much one input may ask of its reader: depth (200 levels), literal (16 MB), event (64 MB), document "
            "(512 MB), expansion (1 MB), letters (1000 of a reason); beyond it is a dead letter. Repeatable. "
            "Example: --limit event=1GB",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="F",
            help="table (default on a terminal) | jsonl (default) | csv | csv-safe | tsv | trig. Example: --format csv",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Write the results here instead of stdout: a file, which appears when the run is done, or "
            "kafka://host:port/topic. Example: --output matches.jsonl",
        ),
    ] = None,
    dead_letter: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Write input that could not be used, with file, line and reason (default: a count on stderr). "
            "Example: --dead-letter broken.jsonl",
        ),
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Add the names of the events that each part selected. Example: --events")
    ] = False,
    diagnose: Annotated[
        bool,
        typer.Option(
            "--diagnose",
            help="Then tell, step by step, how many events pass each condition, and what stops the longest partial matches. "
            "Over bounded input. Example: --diagnose",
        ),
    ] = False,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --diagnose: how far this event comes, and its nearest misses; by its name or its number. "
            "Example: --diagnose --event e5",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="?VAR=TERM",
            help="With --diagnose: how far the events of this key come, and its nearest misses. Repeatable. "
            "Example: --key ?card=:c7",
        ),
    ] = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="OBEP: add to each result what it rests on: triples, axioms and occurrences. Example: --why",
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Write a page about the run here: timeline, matches, plan, and the diagnosis if asked for. One HTML file, no "
            "network. Not on Spark. Example: --report run.html",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="E",
            help="auto (default) | local: this process, no JVM | spark. auto: local, unless an option that needs Spark or more "
            "than 2 GB of input ask for Spark; a line on stderr says which, and why. Example: --engine spark",
        ),
    ] = AUTO,
    master: Annotated[
        str | None, typer.Option(metavar="M", help="Spark master (default local[*]). Example: --master spark://host:7077")
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Keep running on unbounded sources: a folder that files are put into, a file that grows, - (stdin), a FIFO, "
            "tcp://host:port, kafka://…; answers come as they are certain. Without it the input is read to its end. "
            "Example: --follow",
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Restart where the last run stopped, nothing lost, nothing twice. Example: --checkpoint state/"
        ),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="With --follow on Spark: begin a new or changed query with history, so that its first answers are complete: "
            "auto, what they can look back to, or a duration. What was certain before now is not written. "
            "Example: --warm-up auto",
        ),
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="With --follow: the least time from one micro-batch to the next (default: none). Example: --trigger 5s",
        ),
    ] = None,
    max_events: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="With --follow: how many events of a stream a micro-batch takes at most. Example: --max-events 100000",
        ),
    ] = None,
    idle_streams: Annotated[
        str | None,
        typer.Option(
            metavar="I",
            help="With --follow and several streams: wait (default): time moves on when it has in each of them; ignore: it is "
            "that of the stream ahead, and what is behind it by more than --max-delay is late. Example: --idle-streams ignore",
        ),
    ] = None,
) -> None:
    """Run a query over streams and write its matches."""
    asked = SparkOptions(master, follow, checkpoint, trigger, max_events, idle_streams, max_future, warm_up)
    check_engine(engine, asked)
    check_insight(engine, asked, diagnose=diagnose, report=report, about=event is not None or bool(key))
    interval = trigger_interval(trigger)
    chosen = one_of("--format", format, FORMATS) if format is not None else _default_format(output)
    target = parse_target(output, chosen)
    query = load_queries(query_file, language, define or ())
    static = assign_graphs(query.lowered, background or [])
    changing = split_versions(query.lowered, versions or [], static)
    check_versions(engine, asked, changing, reload=reload_background)
    query = varying(query, [*changing, *(reloaded(static) if reload_background else ())])
    about = Insight(diagnose, event, key_terms(key or []), report).checked(query)
    options = run_options(
        query.lowered,
        policy=policy,
        time_unit=time_unit,
        start=start,
        evaluate_at=evaluate_at,
        max_delay=max_delay,
        max_derivations=max_derivations,
        why=why,
        idle_streams=idle_streams,
        time_property=time_property,
        limit=limit or (),
        max_advance=max_advance,
        max_future=max_future or (FUTURE if follow else None),
        warm_up=warm_up,
        max_seconds=max_seconds,
        max_memory=max_memory,
        max_matches=max_matches or (FOLLOWED["max_matches"] if follow else None),
        max_runs=max_runs or (FOLLOWED["max_runs"] if follow else None),
        assign_time=assign_time,
        event_per=event_per,
    )
    check_work(engine, asked, options.work)
    check_assigned(options, engine, asked.spark)
    sources, warnings = assign_streams(query, split_streams(query, stream or []))
    if streams is not None:
        sources |= dict(streams_of_folder(query, streams, list(sources)))
    sources |= changing
    for warning in warnings:
        typer.echo(warning, err=True)
    lifts = assign_maps(query, map or [], context or [], sources, options.times)
    schemas = existing_all("--ontology", ontology or [])
    inputs = [
        *query_file,
        *(define or ()),
        *(Path(source) for source in sources.values()),
        *schemas,
        *(file for files in static.values() for file in files),
    ]
    check_outputs({"--output": target.path, "--dead-letter": dead_letter, "--report": report}, inputs)
    told = ""
    if engine == AUTO:
        here = diagnose or report is not None or follow or options.assign_time is not None or bool(changing)
        here = here or options.work.memory is not None or options.work.runs is not None
        choice = choose_engine(asked.spark, sources.values(), stay=here)
        engine, told = choice.engine, choice.line()
        if engine == "spark" or input_bytes(sources.values()) is None:  # whose sources are opened late, or wait to be written
            typer.echo(told, err=True)
            told = ""
    check_again(engine, sources, diagnose=diagnose)
    with session.running(master, None if follow else sources.values()) if engine == "spark" else nullcontext() as spark:
        # the engine's imports take as long as the start of a JVM, which goes on meanwhile
        from scepter.cli.execute import Job, open_streams

        job = Job(
            query=query,
            streams=open_streams(query, sources, lifts, follow=follow),
            background=static,
            ontology=schemas,
            options=options,
            engine=engine,
            sources=sources,
            lifts=lifts,
            spark=spark,
            follow=follow,
            checkpoint=checkpoint,
            trigger=interval,
            max_events=max_events,
            reload=reload_background,
        )
        if told:
            typer.echo(told, err=True)
        if follow and engine == "local":
            from scepter.cli.follow_local import run_following_here

            run_following_here(job, chosen, target, dead_letter, events)
        elif follow:
            from scepter.cli.follow import run_following

            run_following(job, chosen, target, dead_letter, events)
        else:
            from scepter.cli.bounded import run_bounded

            run_bounded(job, chosen, target, dead_letter, events, about)


def _default_format(output: str | None) -> str:
    return "table" if output is None and sys.stdout.isatty() else "jsonl"
