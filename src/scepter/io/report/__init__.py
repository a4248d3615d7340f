"""A run as one HTML page: what it read, what it found, how it was planned. No network is needed to look at it."""
