"""RDF: terms, values, the columnar event batch, readers and writers."""
