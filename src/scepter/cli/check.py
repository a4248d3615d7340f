"""`scepter check`: is the query right?"""

from __future__ import annotations

import typer

from scepter.cli.arguments import Language, QueryFile
from scepter.cli.inputs import read_query, tell_warnings
from scepter.lower import lower


def check(query_file: QueryFile, language: Language = None) -> None:
    """Parse and check a query; an error is shown with line, column and a caret, and the exit code is 2."""
    # Lowering alone, without the engine behind `scepter.parse`: an editor calls this at every keystroke.
    lowered = lower(read_query(query_file), language, str(query_file))
    tell_warnings(lowered.warnings, lowered.source)
    typer.echo(f"{query_file}: no errors ({lowered.language})", err=True)
