"""`scepter bench`: the papers' experiments on generated data of the same shape, with answers checked and yardsticks beside.

See docs/decisions/0016-benchmarks.md.
"""
