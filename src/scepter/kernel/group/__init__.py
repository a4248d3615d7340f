"""GROUP BY and the set functions, as rows come and go."""
