"""Windows: from when to when an item is there."""
