"""Models that decide which of two texts is better, asked in both orders.

verifier: the reasoning of two judges, and what both kinds share. pairwise: two completions of a question.
"""
