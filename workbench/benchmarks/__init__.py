"""Builds benchmarks in the manner of VerifyBench, and publishes them.

building: balanced, hard, picks and random benchmarks. quotas, capping: selection under quotas and caps. curating:
pools of questions.
sampling: completions that models write. card: the data card. publishing: the published folder. set_text: benchmarks as
text.
presets: settings of papers, as files to start from.
records: records of listed and published benchmarks. options: options of the commands. store: SQL for what is not in
the columns.
"""
