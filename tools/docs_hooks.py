"""What mkdocs calls: pages get their generated parts; examples, changelog and the guide for contributors become pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from pygments.lexers import LEXERS

from docsite import case_blocks, codes, commands, ebnf, lexer

ROOT = Path(__file__).resolve().parents[1]
GENERATED: Mapping[str, Callable[[], str]] = {
    "commands": commands.page,
    "codes": codes.page,
    **{f"grammar {name}": partial(ebnf.page, name) for name in ebnf.GRAMMARS},
}
"""What a line `<!-- generated: … -->` of a page stands for."""
TOP = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
_MARK = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)
_RUN = re.compile(r"^```(sh|python)(?: (?:spark|kafka|delta))+$", re.MULTILINE)
"""What the tests need to run a block is nothing to its readers, and no block at all to the highlighter."""


def on_config(config: Any) -> Any:
    """`folder/*` in the navigation stands for the pages of a folder that are not named in it; queries get their colours."""
    LEXERS["SparqlLexer"] = (lexer.__name__, lexer.QueryLexer.name, ("sparql",), (), ())
    named = set(re.findall(r"[\w/-]+\.md", str(config.nav)))
    config.nav = [_expanded(entry, Path(config.docs_dir), named) for entry in config.nav]
    return config


def _expanded(entry: Any, docs: Path, named: set[str]) -> Any:
    if isinstance(entry, dict):
        return {title: _expanded(inside, docs, named) for title, inside in entry.items()}
    if isinstance(entry, list):
        return [page for each in entry for page in _pages(each, docs, named)]
    return entry


def _pages(entry: Any, docs: Path, named: set[str]) -> list[Any]:
    if not isinstance(entry, str) or not entry.endswith("/*"):
        return [_expanded(entry, docs, named)]
    found = sorted(str(path.relative_to(docs)) for path in docs.glob(f"{entry}.md"))
    return [page for page in found if page not in named and not page.endswith("/template.md")]


def on_files(files: Files, config: Any) -> Files:
    """Examples with all their files, and the documents that stand at the top of the repository."""
    for path in sorted((ROOT / "examples").glob("*/*")):
        if path.is_file() and path.parent.name != "demo":
            name = "index.md" if path.name == "README.md" else path.name
            files.append(File.generated(config, f"examples/{path.parent.name}/{name}", abs_src_path=str(path)))
    for source, target in TOP.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its examples and generated parts."""
    markdown = _RUN.sub(r"```\1", markdown)
    return case_blocks.render(_MARK.sub(lambda found: GENERATED[found[1]](), markdown))
