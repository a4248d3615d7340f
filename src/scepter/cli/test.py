"""`scepter test`: run case files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from scepter.cases.junit import junit
from scepter.cases.runner import CaseResult, Status, find_cases, run_cases
from scepter.cli.execute import case_engines
from scepter.cli.options import one_of
from scepter.errors import option_error
from scepter.io.replacing import replacing

ENGINES = ("both", "spark", "local")


def test(
    paths: Annotated[
        list[Path], typer.Argument(help="Folders and *.case.yaml files. Example: scepter test cases/spaseq", show_default=False)
    ],
    engine: Annotated[
        str,
        typer.Option(
            help="What runs the cases: both, spark or local. With both, each must pass on each. Example: --engine local"
        ),
    ] = "both",
    master: Annotated[
        str | None, typer.Option(metavar="M", help="Spark master (default local[*]). Example: --master 'local[2]'")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="EXPR",
            help='Only cases whose path, name or language has these words. Example: -k "kleene and not prev"',
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write a JUnit report too. Example: --junit report.xml")
    ] = None,
) -> None:
    """Run every *.case.yaml below the paths; the exit code is 1 when one fails."""
    one_of("--engine", engine, ENGINES)
    files = find_cases(paths)
    results: list[CaseResult] = []
    with case_engines(("spark", "local") if engine == "both" else (engine,), master) as engines:
        for result in run_cases(files, engines, select=select):
            _show(result)
            results.append(result)
    if not results:
        raise option_error("no-cases", f"-k {select!r} selects none of {len(files)} cases")
    if report is not None:
        with replacing(report) as out:
            out.write(junit(results))
    counts = Counter(result.status for result in results)
    typer.echo(", ".join(f"{counts[status]} {status.value}" for status in Status))
    if counts[Status.FAILED]:
        raise typer.Exit(1)


def _show(result: CaseResult) -> None:
    reason = f" ({result.detail})" if result.status is Status.SKIPPED else ""
    typer.echo(f"{result.status.value:<7}  {result.path}: {result.name}{reason}")
    if result.status is Status.FAILED:
        typer.echo("\n".join(f"    {line}" for line in result.detail.splitlines()))
