"""Query text to syntax tree: one shared SPARQL core, and a small grammar per language on top of it."""
