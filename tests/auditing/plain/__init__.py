"""Figures counted plainly: loops, pandas and scipy, and nothing of the code that is checked.

accuracy, confusion, compare, agreement, estimates, code, calibration: a family each.
rates: figures of one list of verdicts.
"""
