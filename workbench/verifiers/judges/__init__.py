"""LLM judges: verifiers that ask a model, and the parsers that read what it replies.

verifier: ``llm-judge``. template, published, roles: what a judge is told. case: one item before it.
examples: others before that. strategies, strategy: how it goes about.
voting: several replies. panel: several models, members: several judges. parsers: what a reply says.
grading: how sure it is. mcts, testcases: MCTS-Judge.
"""
