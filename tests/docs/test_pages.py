"""What the pages of the site show is what happens: their commands and programs, the paths they name."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from docs.markdown import commands, run, run_python, with_output

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name not in ("decisions", "benchmarks"))
RUNNING = [page for page in PAGES if commands(page.read_text("utf-8"), ("sh", "python"))]
ON_SPARK = [page for page in PAGES if commands(page.read_text("utf-8"), ("sh spark",))]


def named(page: Path) -> str:
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", RUNNING, ids=named)
def test_commands_and_programs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_fixtures: bool) -> None:
    document = page.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    printed, names = [], dict[str, object]()
    for block, expected in commands(document, ("sh", "python")):
        text = run(block.text) if block.kind == "sh" else run_python(block.text, names)
        if expected is None:
            assert text == "", f"{block.text}\nprints what the page does not show"
        elif update_fixtures:
            printed.append((expected, text))
        else:
            assert text == expected.text, block.text
    if update_fixtures:
        page.write_text(with_output(document, printed), "utf-8")
    for picture in tmp_path.glob("*.svg"):
        shown = DOCS / "images" / picture.name
        if update_fixtures:
            shown.write_bytes(picture.read_bytes())
        assert picture.read_bytes() == shown.read_bytes(), f"{shown} is not what the page's commands make"


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("page", ON_SPARK, ids=named)
def test_commands_on_spark(page: Path, tmp_path: Path) -> None:
    if page.name != "tutorial.md" and "SCEPTER_EVERY_PAGE" not in os.environ:
        pytest.skip(
            "played by hand, with SCEPTER_EVERY_PAGE=1: tests/spark/test_command.py starts, kills and restarts such runs"
        )
    shown = commands(page.read_text("utf-8"), ("sh", "sh spark"))
    cut = "=== next block ==="
    script = "\n".join(f"{block.text}\necho '{cut}'" for block, _ in shown)
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    # a session of its own: what a block leaves running is ended with it
    bash = subprocess.Popen(
        ["bash", "-eu"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
        start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = bash.communicate(f"export PATH={path}:$PATH\n{script}", timeout=900)
    finally:
        if bash.poll() is None:
            os.killpg(bash.pid, signal.SIGKILL)
    assert bash.returncode == 0, printed + "".join(log.read_text() for log in tmp_path.glob("log.txt"))
    for (block, expected), text in zip(shown, printed.split(f"{cut}\n"), strict=False):
        if block.kind == "sh spark":
            assert text == ("" if expected is None else expected.text), block.text


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_paths_that_are_named_exist(page: Path) -> None:
    paths = re.findall(r"`((?:src|tests|cases|examples|docs|tools|benchmarks)/[\w./-]+)`", page.read_text("utf-8"))
    assert not [path for path in paths if not (ROOT / path).exists()]
