"""A plan for people: text, JSON, Mermaid, SVG."""
