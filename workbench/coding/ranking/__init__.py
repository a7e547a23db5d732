"""Metrics of how well verifiers rank and score solutions (Scoring Verifiers), and benchmarks for measuring them.

scores: true scores of solutions, and verifiers' scores. selecting: benchmarks. measuring: the metrics. passing:
the number of tests that suffices, pass@k, histograms of scores. tables: rendering.
"""
