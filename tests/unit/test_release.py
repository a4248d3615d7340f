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
from packaging.specifiers import SpecifierSet

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


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each on one line."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word]


def test_the_steps_of_the_image_are_commands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    steps = dockerfile()
    (python,) = (rest.removeprefix("PYTHON=") for word, rest in steps if word == "ARG" and rest.startswith("PYTHON="))
    assert SpecifierSet(project["requires-python"]).contains(python)
    extras = re.findall(r"EXTRAS='\[(\w+)\]'", (ROOT / "Dockerfile").read_text("utf-8"))
    assert extras and set(extras) <= set(project["optional-dependencies"])
    for word, step in steps:
        if word == "RUN":
            assert subprocess.run(["bash", "-n", "-c", step], check=False).returncode == 0, step
    assert ("ENTRYPOINT", '["scepter"]') in steps and ("CMD", '["--help"]') in steps


def test_the_image_installs_the_wheel_by_name_with_its_extras(tmp_path: Path) -> None:
    """Its step runs with a pip that tells what it was asked for."""
    (step,) = (rest for word, rest in dockerfile() if word == "RUN" and "pip install" in rest)
    wheels, target = tmp_path / "wheels", tmp_path / "opt"
    wheels.mkdir()
    (target / "bin").mkdir(parents=True)
    wheel = wheels / "scepter-0.1.0-py3-none-any.whl"
    wheel.touch()
    pip = target / "bin" / "pip"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    pip.chmod(0o755)
    step = (
        step.replace("python -m venv /opt/scepter", "true").replace("/opt/scepter", str(target)).replace("/wheels", str(wheels))
    )
    asked = subprocess.run(
        ["sh", "-ec", step], capture_output=True, text=True, env={**os.environ, "EXTRAS": "[jdk]"}, check=True
    )
    assert asked.stdout.splitlines()[-1] == f"scepter[jdk] @ file://{wheel}"
    assert "-c" in asked.stdout.splitlines() and (ROOT / "constraints.txt").exists()


def test_every_version_has_its_hashes_and_no_address() -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / "constraints-hashes.txt").read_text().strip())
    hashes = {entry.split()[0]: re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in entries if "==" in entry}
    assert all(hashes.values())
    pinned = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line]
    assert sorted(map(_plain, hashes)) == sorted(map(_plain, pinned))
    assert not any("://" in entry for entry in entries)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def test_kernels_and_caches_lie_where_the_image_says(tmp_path: Path) -> None:
    (setting,) = (rest for word, rest in dockerfile() if word == "ENV")
    given = dict(part.split("=", 1) for part in setting.replace("/var/cache/scepter", str(tmp_path)).split() if "CACHE" in part)
    assert given == {"NUMBA_CACHE_DIR": f"{tmp_path}/kernels", "XDG_CACHE_HOME": str(tmp_path)}
    doctor = [str(Path(sys.executable).parent / "scepter"), "doctor"]
    told = subprocess.run(doctor, capture_output=True, text=True, env={**os.environ, **given}, check=False)
    assert f"kept in {tmp_path}/kernels" in told.stdout, told.stdout + told.stderr


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
