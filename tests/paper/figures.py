"""The numbers of VerifyBench (arXiv 2505.15801, tables 1 to 5) as printed, and its errors."""

from __future__ import annotations

BENCH, HARD = "VerifyBench", "VerifyBench-Hard"
TYPES = ("A", "B", "C", "D")
JUDGES = {"Q32B": "Qwen/Qwen3-32B", "g4o": "OpenAI/gpt-4o-2024-11-20"}
JUDGES |= {"L70B": "meta-llama/Llama-3.3-70B-Instruct", "L3B": "meta-llama/Llama-3.2-3B-Instruct"}

TABLE_1 = {
    ("questions", None): (1000, 945),
    ("completions", None): (2000, 1000),
    ("correct", None): (1000, 291),
    ("wrong", None): (1000, 709),
    ("type", "A"): (500, 252),
    ("type", "B"): (500, 88),
    ("type", "C"): (500, 430),
    ("type", "D"): (500, 230),
    ("domain", "general_reasoning"): (404, 303),
    ("domain", "logic_reasoning"): (498, 315),
    ("domain", "math_reasoning"): (1098, 382),
}

TABLE_2 = """
math-verify@paper 83.60 72.00 19.40 8.60 45.90 76.19 82.95 8.37 10.43 32.50
OpenAI/gpt-4o-2024-11-20 94.80 90.20 96.80 90.80 93.15 71.43 65.91 75.35 71.30 72.60
OpenAI/gpt-4o-mini 95.80 89.80 95.80 90.00 92.85 69.05 72.73 74.19 72.17 72.30
meta-llama/Llama-4-Scout-17B-16E-Instruct 94.20 86.80 89.80 89.25 90.01 48.02 39.77 46.98 55.22 48.50
meta-llama/Llama-3.3-70B-Instruct 88.80 77.80 88.40 78.00 83.25 54.37 45.45 60.70 47.39 54.70
meta-llama/Llama-3.1-8B-Instruct 72.20 70.60 77.00 72.40 73.05 51.19 35.23 45.12 33.91 43.20
meta-llama/Llama-3.2-3B-Instruct 65.80 63.60 56.80 57.60 60.95 33.33 28.41 38.84 27.39 33.90
meta-llama/Llama-3.2-1B-Instruct 44.40 41.00 37.60 53.60 44.15 22.22 13.64 29.07 27.39 25.60
Qwen/Qwen3-235B-A22B 96.40 92.40 97.00 89.40 93.80 70.24 72.73 70.93 69.57 70.60
Qwen/Qwen3-30B-A3B 96.60 91.80 97.40 90.20 94.00 64.68 70.45 69.53 56.52 65.40
Qwen/Qwen2.5-72B-Instruct 95.40 89.80 95.60 88.60 92.35 70.63 60.23 61.40 56.09 62.40
Qwen/Qwen3-32B 97.60 94.00 99.00 92.60 95.80 69.05 81.82 68.14 77.83 71.80
Qwen/Qwen3-8B 96.40 93.00 96.20 90.40 94.00 68.65 78.41 73.02 66.52 70.90
Qwen/Qwen3-4B 95.20 91.60 93.60 87.60 92.00 71.03 62.50 75.58 71.74 72.40
Qwen/Qwen3-1.7B 83.20 81.00 80.60 79.60 81.10 48.81 38.64 60.93 41.74 51.50
microsoft/phi-4 92.60 86.40 93.00 85.40 89.35 59.52 57.95 54.19 57.39 56.60
01-ai/Yi-1.5-9B-Chat-16K 90.40 87.40 88.00 85.00 87.70 65.48 63.64 62.09 54.78 61.40
google/gemma-3-1b-it 55.40 56.20 43.00 56.00 52.65 32.14 19.32 33.72 40.87 33.70
"""
"""The name math-verify belongs to the verifier of that name, which runs here."""

TABLE_3 = """
meta-llama/Llama-4-Scout-17B-16E-Instruct 90.01 73.95 -16.06
meta-llama/Llama-3.3-70B-Instruct 83.25 75.00 -8.25
meta-llama/Llama-3.1-8B-Instruct 73.05 64.10 -8.95
meta-llama/Llama-3.2-3B-Instruct 60.95 55.35 -5.60
meta-llama/Llama-3.2-1B-Instruct 44.15 44.50 +0.35
Qwen/Qwen3-235B-A22B 93.80 80.15 -13.65
Qwen/Qwen3-30B-A3B 94.00 78.25 -15.75
Qwen/Qwen2.5-72B-Instruct 92.35 77.30 -15.05
Qwen/Qwen3-32B 95.80 78.90 -16.90
Qwen/Qwen3-8B 94.00 75.75 -18.25
Qwen/Qwen3-4B 92.00 74.40 -17.60
Qwen/Qwen3-1.7B 81.10 62.10 -19.00
"""

TABLE_4 = """
Skywork/Skywork-Reward-Llama-3.1-8B 60.80 64.80 59.60 68.80 63.48
internlm/internlm2-20b-reward 65.60 64.80 61.20 70.00 65.40
Ray2333/GRM-llama3-8B-sftreg 64.80 58.40 58.80 67.60 62.40
internlm/internlm2-7b-reward 73.20 68.00 66.80 70.40 69.60
Qwen/Qwen2.5-Math-RM-72B 83.60 79.20 73.60 75.60 78.00
Qwen/Qwen2-Math-RM-72B 79.20 78.40 73.20 72.80 75.90
"""
"""The columns for other benchmarks are left out."""

TABLE_5 = """
A 97.60 94.80 88.80 65.80
A1 96.88-0.72 96.88 93.75 65.62-0.18
A2 96.88-0.72 95.31 92.19 70.31
A3 98.39 96.77 90.32 61.29-4.51
A4 98.39 95.16 87.10-1.70 75.81
A5 96.77-0.83 96.77 85.48-3.32 59.68-6.12
A6 96.77-0.83 96.77 93.55 66.13
A7 100 93.55-1.25 88.71-0.09 64.52-1.28
A8 96.77-0.83 87.10-7.70 79.03-9.77 62.90-2.90
B 94.00 90.20 77.80 63.60
B1 91.54-2.46 84.62-5.58 67.69-10.11 56.92-6.68
B2 87.50-6.5 78.12-12.08 70.31-7.49 60.94-2.66
B3 96.09 94.53 82.81 60.94-2.66
B4 98.00 98.00 78.00 60.00-3.60
B5 96.09 94.53 86.72 75.78
C 99.00 96.80 88.40 56.80
C1 99.39 98.17 92.07 59.15
C2 98.21-0.79 94.05-2.75 77.98-10.42 49.40-7.40
C4 99.40 98.21 95.24 61.90
D 92.60 90.80 78.00 57.6
D1 93.60 93.31 81.69 59.01
D2 90.38-2.22 85.26-5.54 69.87-8.13 54.49-3.11
"""
"""The columns are those of `JUDGES`; a difference follows its number where it is negative."""

SUBTYPES = {"A1": 64, "A2": 64, "A3": 62, "A4": 62, "A5": 62, "A6": 62, "A7": 62, "A8": 62}
SUBTYPES |= {"B1": 130, "B2": 64, "B3": 128, "B4": 50, "B5": 128}
SUBTYPES |= {"C1": 164, "C2": 168, "C4": 168, "D1": 344, "D2": 156}
"""Completions of VerifyBench by subtype: the denominators of table 5's numbers; each type has 500."""

SCOUT = "meta-llama/Llama-4-Scout-17B-16E-Instruct"
SKYWORK = "Skywork/Skywork-Reward-Llama-3.1-8B"

SLIPS = {
    ("2", SCOUT, "Str"): ("89.25", "89.20", "of 500 completions no count gives 89.25"),
    ("2", SCOUT, "AVG"): ("90.01", "90.00", "it is the mean of four columns, one of which no count gives"),
    ("3", SCOUT, "with"): ("90.01", "90.00", "table 2's average"),
    ("3", SCOUT, "delta"): ("-16.06", "-16.05", "from table 2's average"),
    ("4", SKYWORK, "AVG"): ("63.48", "63.50", "the mean of its own four columns is 63.50"),
    ("5", "Q32B", "A7"): ("100", "100.00", "digits left out"),
    ("5", "Q32B", "B2"): ("87.50-6.5", "87.50-6.50", "a digit left out"),
    ("5", "L3B", "D"): ("57.6", "57.60", "a digit left out"),
}
"""Table, row and column -> as printed, as recomputed, and why they differ. Everything else agrees exactly."""
