"""Operators that keep little or nothing: on one row, on the rows of one instant."""
