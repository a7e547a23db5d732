"""Models that decide which of two texts is better, asked in both orders.

both_orders: requests and parsing of both kinds. verifier: the reasoning of two judges. pairwise: two completions of a
question.
"""
