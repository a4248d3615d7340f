"""Tables and JSON to events: mappings (YARRRML, RML, JSON-LD contexts) compiled to columns."""
