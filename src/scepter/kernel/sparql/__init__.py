"""SPARQL 1.1 by the book, one row at a time: the slow twin of the columnar paths, and the road for what they do not cover."""
