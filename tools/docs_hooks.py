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
QUERIES = (".epsparql", ".spaseq", ".obep", ".rsepql", ".sparkwave")
TOP = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
_MARK = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)
_RUN = re.compile(r"^```(sh|python)(?: (?:spark|kafka|delta))+$", re.MULTILINE)
"""What the tests need to run a block is nothing to its readers, and no block at all to the highlighter."""


_PRE = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
_CODE = re.compile(r"<code>(.*?)</code>", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[\w-]+")
_NAME_ALONE = re.compile(
    r'<div class="doc-signature highlight"><pre><span></span><code><span class="n\w?">\w+</span>\s*</code></pre></div>'
)
_PICTURE = re.compile(r'(?<!">)<img[^>]* src="([^"]*\.svg)"[^>]*>')


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


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with its examples and generated parts; a use case also shows its queries, and leads to its files."""
    markdown = _RUN.sub(r"```\1", markdown)
    markdown = case_blocks.render(_MARK.sub(lambda found: GENERATED[found[1]](), markdown))
    source = Path(page.file.src_uri)
    return markdown + _files(ROOT / source.parent) if source.match("examples/*/index.md") else markdown


def _files(folder: Path) -> str:
    """The queries of a use case, and links to all that stands beside them."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in ("README.md", "run"))
    queries = [
        f"\n## {path.name}\n```sparql\n{path.read_text('utf-8').rstrip()}\n```\n" for path in found if path.suffix in QUERIES
    ]
    return "".join(queries) + "\n## Files\n" + " · ".join(f"[{path.name}]({path.name})" for path in found) + "\n"


def on_page_content(html: str, **_: Any) -> str:
    """Options that no line breaks after their hyphens, no signature that is but a name, and pictures that lead to themselves.

    On a narrow screen they are small.
    """
    parts = _PRE.split(_NAME_ALONE.sub("", html))
    parts[::2] = [_CODE.sub(lambda found: f"<code>{_whole(found[1])}</code>", part) for part in parts[::2]]
    return _PICTURE.sub(r'<a class="sc-picture" href="\1">\g<0></a>', "".join(parts))


def _whole(code: str) -> str:
    return _OPTION.sub(r'<span class="sc-option">\g<0></span>', code)
