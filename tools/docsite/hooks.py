"""What mkdocs calls: pages get their generated parts, and the examples, the changelog and the guide for contributors become pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from docsite import case_blocks, codes, commands, ebnf
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
GENERATED: Mapping[str, Callable[[], str]] = {
    "commands": commands.page,
    "codes": codes.page,
    **{
        f"grammar {name}": (lambda name=name: ebnf.page(name))
        for name in ("sparql", "epsparql", "spaseq", "obep", "rsepql", "sparkwave")
    },  # type: ignore[misc]
}
"""What a line `<!-- generated: … -->` of a page stands for."""
_MARK = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Examples with all their files, and the documents that stand at the top of the repository."""
    for path in sorted((ROOT / "examples").glob("*/*")):
        if path.is_file() and path.parent.name != "demo":
            name = "index.md" if path.name == "README.md" else path.name
            files.append(File.generated(config, f"examples/{path.parent.name}/{name}", abs_src_path=str(path)))
    for source, target in (("CHANGELOG.md", "changelog.md"), ("CONTRIBUTING.md", "contributing.md")):
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its examples and generated parts."""
    return case_blocks.render(_MARK.sub(lambda found: GENERATED[found[1]](), markdown))
