"""EXISTS with a pattern that no join answers: searched, by terms, over what has ended by then."""
