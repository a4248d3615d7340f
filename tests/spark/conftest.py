"""One JVM for all tests of this folder: starting it takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scepter.runtime.spark.session import session
from scepter.runtime.spark.source import register

_FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _FOLDER in item.path.parents and "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    messages = tmp_path_factory.mktemp("spark") / "messages.log"
    # many small queries, each planned once: to compile the JVM's code to the utmost took a sixth of all its time
    found = session("local[2]", "scepter tests", messages=messages, brief=True)
    register(found)
    yield found
    found.stop()
