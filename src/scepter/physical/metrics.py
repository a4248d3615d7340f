"""What an operator of a plan did in a run, for `explain --analyze`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Metrics:
    """Rows that came and went, how much was kept at most and what memory that took, and CPU time."""

    rows_in: int = 0
    """Of a leaf: events."""
    rows_out: int = 0
    """Of the root: matches."""
    kept_most: int = 0
    cpu: int = 0
    """Nanoseconds; 0 unless measured."""
    memory: int = 0
    """Bytes of the columns of what was kept at most, without the texts of terms; 0 unless measured."""

    @property
    def worked(self) -> bool:
        """Whether anything came to it or from it."""
        return bool(self.rows_in or self.rows_out)

    def text(self) -> str:
        """In one line.

        >>> Metrics(10, 3, 5, 1_500_000, 420_000).text()
        'rows in 10, out 3, kept at most 5 (420.0 kB), CPU 1.5 ms'
        """
        kept = f"{self.kept_most:,}" + (f" ({self.memory / 1e3:,.1f} kB)" if self.memory else "")
        return f"rows in {self.rows_in:,}, out {self.rows_out:,}, kept at most {kept}, CPU {self.cpu / 1e6:,.1f} ms"
