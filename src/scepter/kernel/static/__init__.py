"""Static triples: in columns, by index, joined with rows."""
