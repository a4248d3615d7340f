"""`scepter run` as a process of its own, which can be killed with all that it started, and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from patience import PATIENCE


class Run:
    """A command that is started, killed and started again."""

    def __init__(self, folder: Path, arguments: Sequence[object]) -> None:
        self.folder = folder
        self._command = [sys.executable, "-m", "scepter", "run", *map(str, arguments)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True)

    def kill(self) -> None:
        """It and its children, at once."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> int:
        """In order; its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(PATIENCE)

    def wait(self, holds: Callable[[], bool]) -> None:
        """Until something holds; fails when the command ends before."""
        assert self._process is not None
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert self._process.poll() is None, self.log()
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError(self.log())
            time.sleep(0.1)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-4000:]
