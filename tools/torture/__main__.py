"""The command line of the torture chamber."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from torture.guided import run as run_guided
from torture.kills import Stuck, compare
from torture.mutants import others, seeds
from torture.mutants import run as run_mutants
from torture.programs import LANGUAGES
from torture.writers import run as run_writers


def say(text: str) -> None:
    """A line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run what is asked for; the exit code tells whether all went well."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    kills = commands.add_parser("kills", help="live runs whose driver and workers are killed")
    kills.add_argument("--kills", type=int, default=3, help="how many, over all runs (default 3)")
    kills.add_argument("--per-run", type=int, default=5, help="how many in one run at most (default 5)")
    kills.add_argument("--worse", type=int, default=2, help="other disturbances in one run (default 2)")
    kills.add_argument("--seed", type=int, default=1)
    kills.add_argument("--language", choices=list(LANGUAGES), action="append")
    mutants = commands.add_parser("mutants", help="mutated queries and files of every format")
    mutants.add_argument("--count", type=int, default=2_000)
    mutants.add_argument("--seed", type=int, default=0, help="the number of the first")
    mutants.add_argument("--workers", type=int, default=1)
    mutants.add_argument(
        "--only", choices=sorted(seeds() | others()), action="append", help="of this reader or parser; repeatable"
    )
    writers = commands.add_parser("writers", help="processes that write matches and letters, killed in their writes")
    writers.add_argument("--kills", type=int, default=100)
    writers.add_argument("--seed", type=int, default=1)
    guided = commands.add_parser("guided", help="inputs grown from those that reached new lines of scepter")
    guided.add_argument("--count", type=int, default=500, help="of each reader and parser (default 500)")
    guided.add_argument("--seed", type=int, default=1)
    guided.add_argument("--only", help="one of them, in this process")
    given = parser.parse_args()
    if given.command == "guided":
        return 1 if run_guided(given.count, given.seed, given.only, say) else 0
    if given.command == "writers":
        return 1 if run_writers(given.kills, given.seed, say) else 0
    if given.command == "mutants":
        return 1 if run_mutants(given.count, given.seed, given.workers, given.only or (), say) else 0
    return run_kills(given.kills, given.per_run, given.worse, given.seed, given.language or list(LANGUAGES))


def run_kills(kills: int, per_run: int, worse: int, seed: int, languages: list[str]) -> int:
    """Runs of one language after the other until so many kills are done."""
    failed = matches = letters = 0
    done = Counter[str]()
    while (killed := done["driver"] + done["worker"]) < kills:
        language = languages[seed % len(languages)]
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            try:
                found = compare(Path(folder), language, seed, min(per_run, kills - killed), worse=worse)
            except Stuck as error:
                say(f"seed {seed} {language}: {error}")
                return 1
        done += found.kills
        matches += found.matches
        letters += found.letters
        failed += bool(found.differences)
        say(f"seed {seed} {language}: {told(found.kills)}, {found.matches} matches, {found.letters} letters")
        for line in found.differences[:20]:
            say(f"  {line}")
        seed += 1
    say(f"{told(done)}, {matches} matches, {letters} dead letters: {failed} runs differ")
    return 1 if failed else 0


def told(done: Counter[str]) -> str:
    """What was done to runs."""
    return ", ".join(f"{count} × {what}" for what, count in sorted(done.items()) if count)


if __name__ == "__main__":
    sys.exit(main())
