"""Files of code problems and of their solutions.

kinds: format detection, workbench's own files, HumanEval-X, and samples of solutions. row: a row's cells.
literals: Python literals, and names in code. evalplus: HumanEval, MBPP, EvalPlus; splitting test code.
contests: APPS, LiveCodeBench, BigCodeBench and similar ones.
seeds: sources of problems for reinforcement learning, and exports of evolutions.
"""
