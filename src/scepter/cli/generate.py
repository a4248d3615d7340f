"""`scepter generate`: the papers' workloads, made on the spot."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from scepter import generate as workloads
from scepter.errors import nearest, option_error
from scepter.generate import Choices, FormatName, Manifest, TimeName
from scepter.timeline import TimeKind, parse_duration


def generate(
    dataset: Annotated[str, typer.Argument(help=f"One of {', '.join(workloads.DATASETS)}.")],
    output: Annotated[
        Path | None,
        typer.Option(
            help="A folder (default: one named as the dataset), or with --stream a file. Example: --output ticks.nq.gz"
        ),
    ] = None,
    stream: Annotated[
        str | None, typer.Option(help="Only this stream, to standard output or --output. Example: --stream weather")
    ] = None,
    events: Annotated[int, typer.Option(help="How many events, over all streams. Example: --events 1000000")] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes. Example: --seed 7")] = 0,
    format: Annotated[
        str, typer.Option(help="nquads, trig, jsonld, or ntriples (timestamped, for one-triple events). Example: --format trig")
    ] = "nquads",
    times: Annotated[str, typer.Option(help="integer (milliseconds) or datetime. Example: --times datetime")] = "integer",
    disorder: Annotated[
        str, typer.Option(help="How late an event may arrive; a bare number counts milliseconds. Example: --disorder 5s")
    ] = "0",
    interval: Annotated[
        str | None, typer.Option(help="Time from one instant to the next. Default: the dataset's own. Example: --interval 10ms")
    ] = None,
    keys: Annotated[int | None, typer.Option(help="How many companies, cards, houses, … Example: --keys 1000")] = None,
    triples_per_event: Annotated[int, typer.Option(help="Of stocks, 1 to 7. Example: --triples-per-event 7")] = 3,
    compress: Annotated[bool, typer.Option("--gzip", help="Gzip the stream files. Example: --gzip")] = False,
) -> None:
    """Write a dataset: a file per stream, its static data and ontology, and example queries."""
    choices = Choices(
        events=events,
        seed=seed,
        format=cast("FormatName", _one_of("format", format, get_args(FormatName))),
        times=cast("TimeName", _one_of("times", times, get_args(TimeName))),
        disorder=_milliseconds("disorder", disorder),
        interval=None if interval is None else _milliseconds("interval", interval),
        keys=keys,
        triples_per_event=triples_per_event,
        compress=compress or (stream is not None and output is not None and output.suffix == ".gz"),
    )
    if stream is None:
        _tell(workloads.write(dataset, output or Path(dataset), **choices))
    elif output is None:
        workloads.write_stream(dataset, stream, sys.stdout.buffer, **choices)
    else:
        with open(output, "wb") as file:
            workloads.write_stream(dataset, stream, file, **choices)


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        near = nearest(value, known)
        raise option_error(
            "generate-option",
            f"--{option} cannot be {value!r}" + (f"; did you mean {near}?" if near else ""),
            help=f"it is one of {', '.join(known)}",
        )
    return value


def _milliseconds(option: str, text: str) -> int:
    try:
        return parse_duration(text).ticks(TimeKind.INTEGER, "ms")
    except ValueError as error:
        raise option_error("generate-option", f"--{option}: {error}") from None


def _tell(manifest: Manifest) -> None:
    """Say how the dataset is run: on standard error, since standard output is for data."""
    options = [f"--stream {iri}={path}" for iri, path in manifest.streams.items()]
    options += [f"--background {graph + '=' if graph else ''}{path}" for graph, path in manifest.background.items()]
    options += [] if manifest.ontology is None else [f"--ontology {manifest.ontology}"]
    for query in manifest.queries:
        typer.echo(" \\\n    ".join([f"scepter run {query}", *options]), err=True)
