"""How well verifiers rank and score solutions (Scoring Verifiers), and sets made for that.

truth, scored: what is known of solutions, and what was said of them. selecting: sets. measuring: the metrics.
saturating, passing, histograms: how many tests are enough, pass@k, scores.
"""
