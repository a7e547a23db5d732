"""Figures as they are reported: fractions; null where one is undefined.

report: accuracy, and the order of items. comparison: of verifiers. combined: best of n, estimates,
downstream. agreement: of people. flips: what other options would change.
probe: probes, reward models, studies. calibration: scores as chances. ranking: of solutions.
"""
