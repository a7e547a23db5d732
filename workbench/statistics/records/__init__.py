"""Reported metrics: fractions; an undefined metric is null.

report: accuracy, and the order of items. comparison: of verifiers. combined: best of n, estimates, downstream.
agreement: of annotators. flips: effects of other options.
probe: probes, reward models, studies. calibration: scores as probabilities. ranking: of solutions.
"""
