"""Evolutions, figures of tests, written tests and solutions.

evolution, figures, synthesis: one each.
"""
