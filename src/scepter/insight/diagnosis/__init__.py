"""Why did nothing match? The counts of a query's steps, and what stops its longest partial matches (docs/decisions/0015)."""
