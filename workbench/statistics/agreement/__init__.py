"""How far people agree.

ratings: who said what, as arrays. coefficients: alpha, AC1, Fleiss' kappa. cohen: every two people's kappa.
clustered: intervals by question.
figures: all at once, and each annotator's quality. ceiling: what their errors leave to measure.
"""
