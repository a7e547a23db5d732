"""LLM judges: verifiers that call a model, and the parsers of its replies.

verifier: ``llm-judge``. template, published, roles: prompts. case: one item before a judge.
examples: few-shot examples. strategies, strategy: procedures for one verdict.
voting: several replies. panel: several models, members: several judges. parsers: verdicts in replies.
grading: confidence. mcts, testcases: MCTS-Judge.
"""
