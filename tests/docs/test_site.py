"""The site as it is built: nothing it would fetch from elsewhere, no link or anchor that leads nowhere, no part left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    target = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> Mapping[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_document_is_a_page(site: Path) -> None:
    documents = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    examples = [Path("examples") / path.parent.name / "index.md" for path in (ROOT / "examples").glob("*/README.md")]
    for document in [*documents, *examples]:
        folder = document.parent if document.name == "index.md" else document.with_suffix("")
        assert (site / folder / "index.html").exists(), document


def test_nothing_is_fetched_from_elsewhere(pages: Mapping[Path, Page], site: Path) -> None:
    assert {load for page in pages.values() for load in page.loads if urlsplit(load).netloc} == set()
    sheets = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert sheets
    assert [found for sheet in sheets for found in re.findall(r"(?:url\(|@import\s+)[\"']?(?:https?:)?//[^)\"']+", sheet)] == []


def test_links_and_anchors_lead_somewhere(pages: Mapping[Path, Page], site: Path) -> None:
    missing = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            anchored = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not target.exists() or not anchored:
                missing.append(f"{path.relative_to(site)}: {link}")
    assert missing == []


def test_options_are_not_broken_over_lines(site: Path) -> None:
    """A browser would break `--max-delay` after its hyphens."""
    inline = [
        code
        for path in site.rglob("*.html")
        for code in re.findall(r"<code>(.*?)</code>", re.sub(r"<pre.*?</pre>", "", path.read_text("utf-8"), flags=re.DOTALL))
    ]
    broken = [code for code in inline if re.search(r"(?<![\w-])--\w", re.sub(r'<span class="sc-option">.*?</span>', "", code))]
    assert broken == []
    assert sum("sc-option" in code for code in inline) > 100


def test_pictures_are_links_to_themselves(site: Path) -> None:
    """On a narrow screen they are small: whoever taps one sees it in full."""
    text = (site / "benchmarks" / "index.html").read_text("utf-8")
    drawn = re.findall(r'<img[^>]*src="([^"]*\.svg)"', text[text.index("<article") :])
    assert drawn
    for picture in drawn:
        assert f'<a class="sc-picture" href="{picture}">' in text


def test_the_page_for_what_is_not_there_leads_home(site: Path) -> None:
    text = (site / "404.html").read_text("utf-8")
    article = Page(text[text.index("<article") : text.index("</article>")])
    assert "/." in article.links
    assert "/tutorial/" in article.links


def test_use_cases_show_their_queries_and_lead_to_their_files(pages: Mapping[Path, Page], site: Path) -> None:
    for query in (ROOT / "examples" / "smart-grid").glob("*.spaseq"):
        page = site / "examples" / "smart-grid" / "index.html"
        assert f'id="{query.name.replace(".", "")}"' in page.read_text("utf-8")
        assert {query.name, "storage.trig", "smart-grid.case.yaml"} <= set(pages[page].links)


def test_every_example_is_in_the_navigation(pages: Mapping[Path, Page], site: Path) -> None:
    links = pages[site / "examples" / "index.html"].links
    for readme in (ROOT / "examples").glob("*/README.md"):
        assert f"{readme.parent.name}/" in links or readme.parent.name == "demo", readme


def test_generated_parts_are_there(site: Path) -> None:
    texts = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert [path for path, text in texts.items() if "<!-- generated:" in text or "```" in text] == []

    def text(page: str) -> str:
        return texts[site / page / "index.html"]

    for language, rule in {"spaseq": "sequence", "ep-sparql": "operator", "obep": "composite", "rsep-ql": "match"}.items():
        assert f'id="g-{rule}"' in text(f"reference/{language}")
    assert "--max-derivations" in text("reference/cli")
    assert 'id="unbound-variable"' in text("reference/errors")
    assert "push_all" in text("reference/python")


def test_lists_are_lists(site: Path) -> None:
    """One that follows a line of prose without an empty line between is read as more prose."""
    paragraphs = [
        text for path in site.rglob("*.html") for text in re.findall(r"<p>(.*?)</p>", path.read_text("utf-8"), re.DOTALL)
    ]
    assert len(paragraphs) > 1000
    assert [text for text in paragraphs if re.search(r"\n(?:\d+\.|[-*]) ", text)] == []


def test_the_python_api_shows_signatures(site: Path) -> None:
    text = (site / "reference" / "python" / "index.html").read_text("utf-8")
    shown = [re.sub("<[^>]*>", "", box) for box in re.findall(r'<div class="doc-signature.*?</div>', text, re.DOTALL)]
    assert [box for box in shown if re.fullmatch(r"\s*\w+\s*", box)] == []
    for name in ("explain", "run", "diagnose", "report", "to_arrow", "to_pandas", "to_polars"):
        assert any(box.strip().startswith(f"{name}(") for box in shown), name


def test_colours_follow_the_system(site: Path) -> None:
    """Until a reader chooses: the first of the palettes is the one that a new reader gets, and it names no colours."""
    text = (site / "index.html").read_text("utf-8")
    assert re.findall(r'data-md-color-media="([^"]*)"', text)[0] == "(prefers-color-scheme)"
