"""pairwise: a model decides which of two completions of a question is better, asked in both orders."""
