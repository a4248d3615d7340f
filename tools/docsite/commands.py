"""The commands of `scepter` and their options, as tables: taken from the program itself."""

from __future__ import annotations

import re
from typing import Any

from scepter.cli.main import COMMANDS, Commands


def page() -> str:
    """A section per command."""
    return "\n\n".join(_section(name) for name in COMMANDS)


def _section(name: str) -> str:
    command = Commands().get_command(None, name)
    assert command is not None
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    usage = " ".join(["scepter", name, *(_argument(each) for each in arguments), "[OPTIONS]"])
    about = " ".join((command.help or "").split())
    lines = [f"## scepter {name}", about, f"```text\n{usage}\n```", "| | meaning |\n| --- | --- |"]
    rows = [(_argument(each), each) for each in arguments] + [(_option(each), each) for each in options]
    return "\n\n".join(lines) + "\n" + "\n".join(f"| `{shown}` | {_help(each)} |" for shown, each in rows)


def _argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name).upper().strip("{}.") + ("…" if parameter.nargs == -1 else "")


def _option(parameter: Any) -> str:
    names = ", ".join(parameter.opts)
    if parameter.is_flag:
        return names
    return f"{names} {parameter.metavar or parameter.name.upper()}".replace("|", "\\|")


def _help(parameter: Any) -> str:
    told, _, example = " ".join((parameter.help or "").split()).partition(" Example: ")
    default = parameter.default
    if isinstance(default, (str, int)) and not isinstance(default, bool) and parameter.param_type_name == "option":
        told += f" Default: `{default}`."
    told = re.sub(r"(?<![\w`-])--[a-z][\w-]+", r"`\g<0>`", told.replace("|", "\\|").replace("*.", "\\*."))
    return f"{told} Example: `{example}`" if example else told
