"""Question, reference answer and completion in, verdict out.

base: what a verifier is. function: one that is a function. option_record: its options. registry: finding one by name.
judging: one item.
pool, worker, wire, meter: processes that can be killed. serving, control_tokens: verifiers that ask model servers.
text: exact, last-number and the like. math_verify (with math_backend), rules, similarity: no model either.
latex: whether sympy can read it here.
judges, duel, answer_type, reward: models. stacks: verifiers one behind the other.
execution: programs and their tests. probes: what a verifier must not accept.
"""
