"""One rule per file: a plain function from a query to a query that has the same answers."""
