"""Consumption: which occurrences rows rest on, and pairs under the chronological and the recent policy."""
