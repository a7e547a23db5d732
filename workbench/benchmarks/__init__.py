"""Building sets in the manner of VerifyBench, and publishing them.

building: balanced, hard, picks and random. quotas, capping: what a set is drawn by. curating: pools of questions.
sampling: completions that models write. card: the data card. publishing: the folder. set_text: sets as text.
presets: what papers list, as files to begin with.
records: sets as they are listed and published. options: what verbs are asked for. store: what is read besides figures.
"""
