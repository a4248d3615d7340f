"""`scepter check`: is the query right?"""

from __future__ import annotations

import typer

from scepter.cli.arguments import Define, Language, QueryFiles
from scepter.cli.inputs import in_doubt, read_query, tell_warnings
from scepter.errors import QueryError, Source
from scepter.lower import lower
from scepter.lower.together import called, together


def check(query_file: QueryFiles, define: Define = None, language: Language = None) -> None:
    """Parse and check queries; an error is shown with line, column and a caret, and the exit code is 2."""
    # Lowering alone, without the engine behind `scepter.parse`: an editor calls this at every keystroke.
    defined = [Source(str(path), read_query(path)) for path in define or ()]
    checked = {}
    for path, name in zip(query_file, called([str(path) for path in query_file]), strict=True):
        text = read_query(path)
        try:
            lowered = lower(text, language, str(path), defined)
        except QueryError as error:
            raise in_doubt(error, language, path, text) from None
        tell_warnings(lowered.warnings, lowered.source)
        checked[name] = lowered
        typer.echo(f"{path}: no errors ({lowered.language})", err=True)
    if len(checked) > 1:
        together(checked)  # raises where they feed each other in a circle
