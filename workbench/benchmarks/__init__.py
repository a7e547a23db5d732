"""Builds benchmarks in the manner of VerifyBench, and publishes them.

building: balanced, hard, picks and random. quotas, capping: selection under quotas and caps. curating: pools of
questions.
sampling: completions that models write. card: the data card. publishing: the folder. set_text: benchmarks as text.
presets: settings of papers, as files to start from.
records: benchmarks as they are listed and published. options: options of the commands. store: SQL besides the columns.
"""
