"""The one algebra every language lowers to: expressions, graph patterns, temporal operators."""
