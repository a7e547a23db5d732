"""Tests and solutions that models write.

asking: prompts and model calls. solutions, tests: one subject each. scaling: suites of 5 to 25 tests.
"""
