"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

QueryFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="QUERY_FILE", help="The query. Example: power.spaseq", show_default=False)
]

Language: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="L",
        help="ep-sparql | spaseq | obep | rsep-ql | sparkwave. Default: by extension (.epsparql .spaseq .obep .rsepql "
        ".sparkwave), then by the text. Example: --language spaseq",
    ),
]
