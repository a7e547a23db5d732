"""Inter-annotator agreement.

ratings: labels as arrays. coefficients: alpha, AC1, Fleiss' kappa. cohen: the kappa of every two annotators. clustered:
intervals by question. figures: all of them, and each annotator's quality. ceiling: the highest measurable accuracy
under label errors.
"""
