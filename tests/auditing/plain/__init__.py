"""Metrics computed plainly: loops, pandas and scipy, and none of the code that is checked.

accuracy, confusion, compare, agreement, estimates, code, calibration: one family each.
rates: metrics of one list of verdicts.
"""
