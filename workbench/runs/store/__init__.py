"""The SQL of runs: their rows, verdicts, test results, calls, probes, generated completions, and few-shot examples.

runs, verdicts, verifier_inputs, calls, batches, probes, completing, settled: one module each.
"""
