"""`scepter`: the commands, loaded when they are used, and what an error makes of the exit code."""

from __future__ import annotations

import gc
import importlib
import io
import os
import re
import signal
import sys
import traceback
from contextlib import suppress
from importlib.metadata import version
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from scepter.allocation import keep_memory
from scepter.cli.kernels import choose_kernels
from scepter.errors import DataError, ScepterError, render
from scepter.kept import open_named

# Each command stands in the module of its name and brings its own imports: `scepter check` must start without numba or Spark.
COMMANDS = {
    "run": "Run a query over streams and write its matches.",
    "check": "Parse and check a query.",
    "explain": "Show the plan of a query.",
    "map": "Print the events that a mapping makes of rows and documents, or suggest a mapping.",
    "compare": "Compare two queries, or two engines, row by row.",
    "test": "Run case files.",
    "generate": "Write one of the papers' workloads.",
    "bench": "Measure the papers' experiments.",
    "doctor": "Check the installation, and say what to do.",
}

FAILED = 1
WRONG = 2
INTERRUPTED = 130
TERMINATED = 143  # as a shell reports a program that SIGTERM ended
PIPE_CLOSED = 141  # as a shell reports a program that wrote to a pipe nobody reads any more

_STDOUT = "standard output"
_CLASS = r"(?:[\w$]+\.)+[\w$]+"
"""A class of Java's, as what it throws is told."""


class Terminated(BaseException):
    """SIGTERM has come: what is open is closed on the way out, as after Ctrl-C."""


class Commands(TyperGroup):
    """The group whose commands are imported by name."""

    def list_commands(self, ctx: object) -> list[str]:
        """The commands, in the order a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"scepter.cli.{cmd_name}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name, no_args_is_help=cmd_name not in ("generate", "bench", "doctor"))(getattr(module, cmd_name))
        command = typer.main.get_command(single)
        assert isinstance(command, TyperCommand)
        return command

    def format_commands(self, ctx: object, formatter: Any) -> None:
        """List the commands from the table above: help needs none of their imports."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: Any) -> object:
        """Run the command; an error becomes a message on stderr and an exit code."""
        try:
            return super().invoke(ctx)
        except ScepterError as error:
            tell(render(error.diagnostic, error.source))
            raise typer.Exit(FAILED if isinstance(error, DataError) else WRONG) from None
        except KeyboardInterrupt:
            tell("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except Terminated:
            tell("terminated")
            raise typer.Exit(TERMINATED) from None
        except BrokenPipeError:
            # Nobody reads the results any more (`scepter run … | head`): not a failure to complain about.
            _let_go_of_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except MemoryError:
            tell("error[memory]: the system has no more memory for this")
            tell("help: narrow the query (windows, conditions); --max-memory ends a run before others suffer")
            raise typer.Exit(FAILED) from None
        except OSError as error:
            tell(f"error[system]: {error}")
            if error.filename == _STDOUT:
                _let_go_of_stdout()
            raise typer.Exit(FAILED) from None
        except (typer.Exit, typer.Abort, SystemExit):
            raise
        except ImportError as error:
            tell(f"error[installation]: {error}")
            tell("help: scepter doctor says what is missing, and what to do")
            raise typer.Exit(FAILED) from None
        except Exception as error:
            if hasattr(error, "exit_code"):  # the argument parser's own errors show themselves, with exit code 2
                raise
            if _is_of_spark(error):
                tell(f"error[spark]: Spark failed: {first_words(error)}")
                raise typer.Exit(FAILED) from None
            tell("".join(traceback.format_exception(error)))
            tell("error[internal]: this is a fault of scepter; please report it with the lines above")
            raise typer.Exit(FAILED) from None


def _let_go_of_stdout() -> None:
    """What is still to be written there would fail again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_of_spark(error: Exception) -> bool:
    """Whether an error is Spark's own: a master that is not there, a JVM that was killed, a full disk."""
    return any(kind.__module__.partition(".")[0] in ("pyspark", "py4j") for kind in type(error).__mro__)


def first_words(error: Exception) -> str:
    """What an error says, without the Java that called it.

    >>> first_words(ValueError("An error occurred while calling None.x.\\n: org.a.SparkException: Could not parse Master URL"))
    'Could not parse Master URL'
    >>> first_words(ValueError("[STREAM_FAILED] Query a terminated: Checksum error\\n:  +- ~Project [place]"))
    '[STREAM_FAILED] Query a terminated: Checksum error'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if re.match(rf": {_CLASS}:", line)), lines[0] if lines else type(error).__name__)
    return re.sub(rf"^:?\s*{_CLASS}:\s*", "", said)


def tell(text: str) -> None:
    """A line for the person, on stderr."""
    typer.echo(text, err=True)


app = typer.Typer(
    cls=Commands,
    name="scepter",
    help="Queries over event streams: EP-SPARQL, SPAseq, OBEP, RSEP-QL and Sparkwave on one engine.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scepter {version('scepter')}")
        raise typer.Exit


@app.callback()
def _scepter(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def main() -> None:
    """The `scepter` program."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # one whose failed writes tell that it is about standard output
        at_once = sys.stdout.line_buffering
        sys.stdout = open_named(sys.stdout.fileno(), shown=_STDOUT)
        sys.stdout.reconfigure(line_buffering=at_once)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # RDF is UTF-8 wherever the terminal's locale stands; what is no UTF-8 (a file name) is shown escaped.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    with suppress(ValueError):  # not in the main thread: whoever calls from there has handlers of its own
        signal.signal(signal.SIGTERM, _terminate)
    # Imports, grammars and kernels are some 200,000 objects that stay. To go through them again and again, as the collector
    # does by default, takes a tenth of a short command's time.
    gc.set_threshold(100_000)
    keep_memory()
    choose_kernels(sys.argv[1:])
    app()
