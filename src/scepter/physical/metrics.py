"""What an operator of a plan did in a run, for `explain --analyze`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Metrics:
    """Rows that came and went, how much was kept at most, and CPU time."""

    rows_in: int = 0
    """Of a leaf: events."""
    rows_out: int = 0
    """Of the root: matches."""
    kept_most: int = 0
    cpu: int = 0
    """Nanoseconds; 0 unless measured."""

    @property
    def worked(self) -> bool:
        """Whether anything came to it or from it."""
        return bool(self.rows_in or self.rows_out)

    def text(self) -> str:
        """In one line.

        >>> Metrics(10, 3, 5, 1_500_000).text()
        'rows in 10, out 3, kept at most 5, CPU 1.5 ms'
        """
        return f"rows in {self.rows_in:,}, out {self.rows_out:,}, kept at most {self.kept_most:,}, CPU {self.cpu / 1e6:,.1f} ms"
