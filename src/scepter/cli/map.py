"""`scepter map`: the events that a mapping makes of a file, or a first mapping for it."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import IO, Annotated, Final

import typer

from scepter.cli.inputs import existing
from scepter.cli.options import one_of
from scepter.errors import option_error

FORMATS: Final = ("trig", "nquads")


def map(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, JSON, JSON lines or Parquet; - is standard input.")],
    map: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="A mapping in YARRRML or RML. Example: --map readings.yml")
    ] = None,
    context: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A JSON-LD context for plain JSON instead. Example: --context doors.jsonld"),
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Write a first mapping from a sample of the file instead. Example: --suggest")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Print so many events at most. Example: --limit 3")
    ] = None,
    format: Annotated[str, typer.Option(metavar="F", help="trig (default) | nquads. Example: --format nquads")] = "trig",
    time_property: Annotated[
        list[str] | None,
        typer.Option(metavar="IRI", help="As for scepter run: where the time is a triple, as under a context. Example: "
                     "--time-property sosa"),
    ] = None,
) -> None:  # fmt: skip
    """Print the events that a mapping or a context makes, as the queries see them; or suggest a mapping."""
    one_of("--format", format, FORMATS)
    if suggest + (map is not None) + (context is not None) != 1:
        raise option_error(
            "bad-option",
            "scepter map prints what a mapping or a context makes, or suggests a mapping",
            help="give --map FILE, --context FILE or --suggest",
        )
    from scepter.cli.mapped import print_in_context, print_mapped, print_suggestion

    with _opened(file) as opened:
        if context is not None:
            print_in_context(opened, file, context, limit, format, time_property)
        elif map is None:
            print_suggestion(opened, file)
        else:
            print_mapped(opened, file, map, limit, format, time_property)


def _opened(file: Path) -> IO[bytes]:
    if str(file) == "-":
        return sys.stdin.buffer
    from scepter.rdf.files import GZIP_MAGIC, Unpacked

    raw = existing("FILE", file).open("rb")
    if not raw.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC):  # a pipe cannot be gone back in
        return raw
    return io.BufferedReader(Unpacked(raw, str(file), lambda letter: typer.echo(f"not used: {letter.reason}", err=True)))
