"""The answer type of a question, suggested by a model so that annotators can confirm it instead of choosing it."""
