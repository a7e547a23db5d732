"""LLM judges: verifiers that ask a model, and the parsers that read what it replies."""
