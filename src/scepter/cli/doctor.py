"""`scepter doctor`: is everything there that runs need, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from scepter.cli.checkup import Finding, State, examine


def doctor(
    run: Annotated[
        bool,
        typer.Option("--run", help="Answer a small query in each language too, which compiles the kernels. Example: --run"),
    ] = False,
) -> None:
    """Check the packages, the caches, Java and Spark, and say what to do; the exit code is 1 when queries cannot run."""
    findings = list(examine())
    if run and not _broken(findings):
        from scepter.cli.trial import answers  # the engine's imports take seconds

        answered = answers()
        findings = [*examine(), *answered]  # there are kernels now
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        _show(finding, width)
    limited = [finding for finding in findings if finding.state is State.LIMITED]
    if _broken(findings):
        typer.echo("queries cannot run: see above")
        raise typer.Exit(1)
    lost = ", ".join(f"no {finding.lost}" for finding in limited)
    typer.echo(f"queries run in this process; {lost}" if lost else "queries run in this process and on Spark")


def _broken(findings: Sequence[Finding]) -> bool:
    return any(finding.state is State.BROKEN for finding in findings)


def _show(finding: Finding, width: int) -> None:
    typer.echo(f"{finding.state.value:<8} {finding.what:<{width}}  {finding.found}".rstrip())
    if finding.advice:
        typer.echo(f"{'':<8} {'':<{width}}  do: {finding.advice}")
