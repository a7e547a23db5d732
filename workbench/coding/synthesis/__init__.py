"""Tests and solutions that models write.

asking: prompts and model calls. solutions, tests: writing of each. scaling: suites of different sizes, compared.
"""
