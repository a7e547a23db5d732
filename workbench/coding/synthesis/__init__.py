"""Tests and solutions that models write.

asking: prompts, and whom to ask. solutions, tests: one each.
"""
