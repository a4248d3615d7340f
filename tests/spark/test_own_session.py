"""Spark as people have it: their own session, in a kernel whose environment is not activated; Spark Connect; other versions."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scepter.errors import OptionError
from scepter.runtime.spark.environment import check_version
from scepter.runtime.spark.java import java_home

SCRIPT = Path(__file__).with_name("own_session.py")


def ran(kind: str, folder: Path, **more: str) -> str:
    """What the script says, in an environment that knows nothing of this one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK", "VIRTUAL"))}
    env = {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin", "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1", **more}
    found = subprocess.run([sys.executable, str(SCRIPT), kind, str(folder)], capture_output=True, text=True, env=env)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.slow
@pytest.mark.spark
def test_workers_of_an_own_session_find_their_way(tmp_path: Path) -> None:
    bare = tmp_path / "python3"  # a Python that has nothing installed
    bare.write_text(f'#!/bin/sh\nexec {sys.base_prefix}/bin/python3 -I -S "$@"\n')
    bare.chmod(0o755)
    said = ran("classic", tmp_path)
    assert "history [(3, 5, '1')]\nlive [(3, 5, '1')]\n" in said
    assert "error[spark-workers]: Spark's Python workers" in said
    assert f"help: set PYSPARK_PYTHON={sys.executable}" in said


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="Spark Connect needs grpcio")
def test_spark_connect(tmp_path: Path) -> None:
    assert "history [(3, 5, '1')]\nlive [(3, 5, '1')]\n" in ran("connect", tmp_path, PYSPARK_PYTHON=sys.executable)


@pytest.mark.parametrize("version", ["4.2.0", "4.2.1", "4.3.0", "4.3.1.dev1"])
def test_versions_that_are_taken(version: str) -> None:
    check_version(version)


@pytest.mark.parametrize("version", ["3.5.1", "4.0.5", "4.1.4", "4.4.0", "5.0.0-preview", "unknown"])
def test_versions_that_are_refused(version: str) -> None:
    with pytest.raises(OptionError, match=r"4\.2 and 4\.3") as caught:
        check_version(version)
    assert caught.value.code == "spark-version"
