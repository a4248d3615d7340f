"""Groups over time: a row for a group each time rows enter it."""
