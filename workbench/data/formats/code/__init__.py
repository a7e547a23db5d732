"""Files of code problems and of their solutions.

kinds: which one a file is. row: a row's cells. own: our own files. literals: values and names. splitting: test code.
evalplus: HumanEval, MBPP, EvalPlus. contests: APPS, LiveCodeBench, BigCodeBench and like ones. samples: solutions.
"""
