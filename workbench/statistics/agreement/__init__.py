"""How far people agree.

ratings: who said what, as arrays. coefficients: kappa, alpha, AC1.
figures: all at once, and each annotator's quality. ceiling: what their errors leave to measure.
"""
