"""Records of evolutions, and metrics of tests, of written tests and of solutions.

evolution, figures: one subject each.
"""
