"""Windows over streams, event patterns over their items, and the answers of queries over both."""
