"""The SQL of runs: their rows, verdicts and outcomes of tests, calls, probes, written completions, few-shot examples.

runs, verdicts, verifier_inputs, calls, batches, probes, completing, settled: one module each.
"""
