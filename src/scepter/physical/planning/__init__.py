"""From algebra to operators: the planner, and what it asks of queries and patterns."""
