"""`scepter check`: is the query right?"""

from __future__ import annotations

import typer

from scepter.cli.arguments import Language, QueryFile
from scepter.cli.inputs import in_doubt, read_query, tell_warnings
from scepter.errors import QueryError
from scepter.lower import lower


def check(query_file: QueryFile, language: Language = None) -> None:
    """Parse and check a query; an error is shown with line, column and a caret, and the exit code is 2."""
    # Lowering alone, without the engine behind `scepter.parse`: an editor calls this at every keystroke.
    text = read_query(query_file)
    try:
        lowered = lower(text, language, str(query_file))
    except QueryError as error:
        raise in_doubt(error, language, query_file, text) from None
    tell_warnings(lowered.warnings, lowered.source)
    typer.echo(f"{query_file}: no errors ({lowered.language})", err=True)
