"""How well verifiers rank and score solutions (Scoring Verifiers), and sets for measuring that.

truth, scored: true scores of solutions, and verifiers' scores. selecting: sets. references: reference solutions run for
them. measuring: the metrics. passing: how many tests are enough, pass@k, histograms of scores. tables: all of it.
"""
