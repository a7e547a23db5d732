"""Publishes frozen benchmarks as a folder that others load.

publishing: the folder. frozen: the benchmarks. gathering: contents of the card, and labels. leaderboard: metrics.
"""
