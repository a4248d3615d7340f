"""Event patterns over windows: sequences of labels under policies, with consumption (spec/30-rsep-ql rules 4 to 9)."""
