"""What a release says of itself is one thing, wherever it stands."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

import scepter

ROOT = Path(__file__).parents[2]


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    editors = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    assert {scepter.__version__, str(citation["version"]), editors["version"]} == {project["version"]}
    assert citation["license"] == project["license"] == editors["license"]


def test_a_citation_has_what_the_format_asks_for() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "title", "message", "authors"} <= set(citation)


def test_an_image_is_made_of_what_it_is_given_and_does_not_run_as_root() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[0] == "*"
    assert {f"!{name}" for line in copied for name in line.split()} == set(ignored[1:])
    assert text.index("USER scepter") < text.index("ENTRYPOINT")
    assert "RUN scepter doctor --run" in text


def test_the_readme_is_played(tmp_path: Path) -> None:
    """With the environment of the tests; releases play it in a new one."""
    page = tmp_path / "page.md"
    page.write_text("```sh\nscepter --version\n```\n\n```text\nscepter " + scepter.__version__ + "\n```\n")
    tool = ROOT / "tools" / "play-readme"
    assert tool.stat().st_mode & stat.S_IXUSR
    venv = Path(sys.executable).parent.parent
    given = [sys.executable, str(tool), "--venv", str(venv), "--page", str(page)]
    done = subprocess.run(given, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    page.write_text(page.read_text().replace("```text\n", "```text\nmore "))
    done = subprocess.run(given, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert (done.returncode, "FAILED: scepter --version" in done.stdout) == (1, True)
