"""Frozen sets for others: a folder that Hugging Face's ``datasets`` loads, with its data card and leaderboard.

publishing: the verb, and the files. frozen: a set as it stood when it was frozen. gathering: what the card says.
annotations: what people said. leaderboard: who is how accurate. folder: how a folder appears.
"""
