"""Frozen sets in a folder that others load.

publishing: the folder. frozen: the sets. gathering: what is said of them, and people's labels. leaderboard: figures.
"""
