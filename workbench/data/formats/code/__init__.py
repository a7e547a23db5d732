"""Files of code problems and of their solutions.

kinds: format detection, our own files, and samples of solutions. row: a row's cells. literals: values and names.
evalplus: HumanEval, MBPP, EvalPlus; splitting test code. humaneval_x: several languages.
mbpp: the meaning of MBPP+'s inputs. contests: APPS, LiveCodeBench, BigCodeBench and similar ones.
seeds: sources of problems for reinforcement learning, and exports of evolutions.
"""
