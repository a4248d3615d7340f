"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

QueryFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="QUERY_FILE", help="The query. Example: power.spaseq", show_default=False)
]

QueryFiles: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        metavar="QUERY_FILE...",
        help="The query, or several that run together, in one language or in several; each row then says which it answers. "
        "Example: power.spaseq",
        show_default=False,
    ),
]

Define: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="OBEP: a file of EVENT definitions that the queries may use. Repeatable. Example: --define rooms.obep",
    ),
]

Language: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="L",
        help="ep-sparql | spaseq | obep | rsep-ql | sparkwave. Default: by extension (.epsparql .spaseq .obep .rsepql "
        ".sparkwave), then by the text. Example: --language spaseq",
    ),
]
