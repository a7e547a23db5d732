"""The SQL of runs: their rows, verdicts and outcomes of tests, calls, probes, written completions.

runs, verdicts, calls, probes, completing: one each.
"""
