"""Files of code problems and of their solutions.

sets: workbench's own files, samples of solutions, EvolveCoder, HumanEval-X, Scoring Verifiers. row: a row's cells.
literals: Python literals, and names in code. evalplus: HumanEval, MBPP, EvalPlus; splitting test code.
contests: APPS, LiveCodeBench, BigCodeBench and similar ones.
seeds: sources of problems for reinforcement learning, and exports of evolutions.
"""
