"""Which versions of Spark there is a driver for."""

from __future__ import annotations

import re
from typing import Final

from scepter.errors import option_error

OLDEST: Final = (4, 2)
NEWEST: Final = (4, 3)


def check_version(version: str) -> None:
    """Refuse a version of Spark that lacks what live runs and their restarts need, or that nobody has tried.

    >>> check_version("4.2.1")
    >>> check_version("4.1.4")
    Traceback (most recent call last):
    ...
    scepter.errors.OptionError: error[spark-version]: this is Spark 4.1.4, and Scepter runs on Spark 4.2 and 4.3
    note: sources written in Python have no admission control before 4.2, so that restarts would not be exact
    help: pip install 'pyspark>=4.2,<4.4', and the same version on the cluster
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or not OLDEST <= (int(found[1]), int(found[2])) <= NEWEST:
        older = found is not None and (int(found[1]), int(found[2])) < OLDEST
        why = "sources written in Python have no admission control before 4.2, so that restarts would not be exact"
        raise option_error(
            "spark-version",
            f"this is Spark {version}, and Scepter runs on Spark 4.2 and 4.3",
            notes=(why,) if older else (),
            help="pip install 'pyspark>=4.2,<4.4', and the same version on the cluster",
        )
