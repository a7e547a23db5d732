"""Verifiers: question, reference answer and completion in, verdict out.

base: interfaces. function: verifiers that are functions. option_record: their options. registry: finding one by name.
judging: one item. pool, worker, wire, meter: processes that can be killed. serving, control_tokens: verifiers that call
model servers. text: exact, last-number and similar. math_verify (with math_backend), rules, similarity: other verifiers
without a model. latex: whether sympy can parse LaTeX here. judges, duel, answer_type, reward: models. stacks: verifiers
in sequence. execution: programs and their tests. probes: texts that a verifier must not accept.
"""
