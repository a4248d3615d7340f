"""A driver that is killed in mid-stream and started again, elsewhere, gives every match once."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from patience import PATIENCE
from spark.disturbed import Disturbed


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_matches_after_kills_are_those_of_an_undisturbed_run(spark: SparkSession, tmp_path: Path) -> None:
    run = Disturbed(tmp_path, "ep-sparql", "local[2]")
    for goal in run.points(2):
        process = run.start()
        run.await_batches(goal, process)
        kill(process)
        # on another number of cores, with other shuffle partitions
        run.master, run.partitions = f"local[{1 + run.partitions}]", run.partitions + 1
    run.give_all()
    process = run.start()
    assert process.wait(PATIENCE) == 0, run.log()
    run.check(spark)
