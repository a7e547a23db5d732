"""The SQL behind metrics.

figures: verdicts and scores as arrays, selection judges. reviews: disagreements and decisions. overview: counts.
curation: pools of questions, types that models suggest.
"""
