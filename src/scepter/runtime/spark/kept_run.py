"""What `scepter.run` keeps in the folder of a checkpoint, where it is told which one that is.

Spark gets the checkpoint later, from whoever writes the results. So the folder is looked at when the run is made: another
query, another version, a part that is missing are refused before anything starts, and by name. Spark's own state says the same
in the first micro-batch, where nobody has told the folder.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from scepter.errors import OptionError, option_error
from scepter.kept import sealed, unsealed, write_whole
from scepter.runtime.spark.checkpoint_parts import checked, forget_sums
from scepter.runtime.spark.identity import CODE, Identity
from scepter.runtime.spark.warm_up import Found

FILE: Final = "scepter-run.json"
LIVE_BUCKETS: Final = 32
"""So many buckets a live run has at least, and where nothing would tell a restart how many there are."""
ANEW: Final = "start anew with another checkpoint folder and another output"
_HELP: Final = f"go back to what it was, or {ANEW}"


def claimed(folder: Path | None, identity: Identity) -> Found:
    """What a run finds in the folder of its checkpoint, which is its own from now on; refused if it is another one's. Without a
    folder nobody would know at the next start how many buckets there are."""
    if folder is None:
        return Found(buckets=LIVE_BUCKETS)
    forget_sums(folder)
    offset, commit = checked(folder, ANEW)
    told = _told(folder / FILE)
    done = -1 if told is None else told["commit"]
    if offset < done:
        raise option_error(
            "checkpoint-incomplete",
            f"a part of {folder} is missing: {FILE} says that micro-batch {done} is done, and Spark's part ends at "
            f"{'none' if offset < 0 else f'micro-batch {offset}'}",
            notes=("going on would lose matches or write them twice",),
            help=f"give back the whole folder as it was, or {ANEW}",
        )
    if offset >= 0 and told is None:  # begun without `checkpoint`: what it is of only its state tells
        return Found(goes_on=True, buckets=identity.in_buckets(LIVE_BUCKETS).buckets)
    if offset >= 0 and told is not None:
        identity = identity.going_on(told["of"].encode())
        if (refused := identity.refusal(told["of"].encode(), str(folder))) is not None:
            raise OptionError(replace(refused, help=_HELP) if refused.code == CODE else refused)
    kept = {"of": identity.written().decode(), "commit": commit}
    write_whole(folder / FILE, sealed(json.dumps(kept).encode()))
    return Found(offset >= 0, buckets=identity.buckets)


def _told(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    data = unsealed(path.read_bytes())
    if data is None:
        raise option_error(
            "checkpoint-damaged",
            f"{path} is damaged: nobody can tell of which query the state is",
            help=f"give back the file, or {ANEW}",
        )
    found: dict[str, Any] = json.loads(data)
    return found
