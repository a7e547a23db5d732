"""The SQL behind metrics.

figures: gold, verdicts, scores as arrays. reviews: disagreements and decisions. overview: counts. curation: of pools.
watching: trainings.
"""
