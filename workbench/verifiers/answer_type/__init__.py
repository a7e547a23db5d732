"""The answer type of a question, suggested by a model so that annotators can confirm it instead of choosing it.

verifier: with our prompt. published: with a user's copy of a published prompt.
"""
