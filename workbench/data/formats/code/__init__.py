"""Files of code problems and of their solutions.

kinds: which one a file is, our own files, and samples of solutions. row: a row's cells. literals: values and names.
evalplus: HumanEval, MBPP, EvalPlus, test code split. humaneval_x: in several languages.
mbpp: what MBPP+'s inputs mean. contests: APPS, LiveCodeBench, BigCodeBench and like ones.
seeds: what reinforcement learning starts from, and what evolutions export.
"""
