"""Files of code problems and of their solutions.

kinds: format detection, workbench's own files, and samples of solutions. row: a row's cells. literals: Python literals,
and names in code.
evalplus: HumanEval, MBPP, EvalPlus; splitting test code. humaneval_x: several languages.
mbpp: the types of MBPP+'s inputs. contests: APPS, LiveCodeBench, BigCodeBench and similar ones.
seeds: sources of problems for reinforcement learning, and exports of evolutions.
"""
