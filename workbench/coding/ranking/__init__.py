"""How well verifiers rank and score solutions (Scoring Verifiers), and benchmarks for measuring that.

scores: true scores of solutions, and verifiers' scores. selecting: benchmarks. measuring: the metrics. passing:
how many tests are enough, pass@k, histograms of scores. tables: rendering.
"""
