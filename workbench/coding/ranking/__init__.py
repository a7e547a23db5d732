"""How well verifiers rank and score solutions (Scoring Verifiers), and sets made for that.

truth, scored: what is known of solutions, and what was said of them. selecting: sets. references: run for
them. measuring: the metrics. passing: how many tests are enough, pass@k, histograms of scores. tables: all of it.
"""
