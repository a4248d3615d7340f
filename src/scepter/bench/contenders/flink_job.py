"""Flink on its own, in an environment that need not have Scepter.

Each line of standard input is SQL as a JSON string, whose last statement gives one number; the answer is `answers NUMBER`.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Answer until standard input ends."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    for line in sys.stdin:
        # history, on one thread: what Flink does best with files
        flink = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        flink.get_config().set("parallelism.default", "1")
        flink.get_config().set("table.exec.resource.default-parallelism", "1")
        *before, query = [part for part in json.loads(line).split(";") if part.strip()]
        for statement in before:
            flink.execute_sql(statement)
        with flink.execute_sql(query).collect() as rows:
            [row] = list(rows)
        sys.stdout.write(f"answers {row[0]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
