"""Inter-annotator agreement.

ratings: labels as arrays. coefficients: alpha, AC1, Fleiss' kappa. cohen: Cohen's kappa of every two annotators.
clustered: intervals by question. figures: all agreement metrics, and each annotator's quality. ceiling: the highest
measurable accuracy
under label errors.
"""
