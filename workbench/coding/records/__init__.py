"""Evolutions, and figures of tests, of written tests and of solutions.

evolution, figures: one each.
"""
