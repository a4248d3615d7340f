"""The torture chamber: live runs that are killed, inputs and queries that are mutated; by seeds, compared with runs that nobody
disturbed.

    PYTHONPATH=tools .venv/bin/python -m torture kills --kills 3          # some minutes: what the tests run
    PYTHONPATH=tools .venv/bin/python -m torture kills --kills 100        # the long run, by hand
    PYTHONPATH=tools .venv/bin/python -m torture writers --kills 1000      # minutes: Spark's part is played
    PYTHONPATH=tools .venv/bin/python -m torture mutants --count 1000000
"""
