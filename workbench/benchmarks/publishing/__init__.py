"""Publishes frozen benchmarks as a folder that others can load.

publishing: writes the folder. frozen: reads the benchmarks. gathering: contents of the card, and labels. leaderboard:
verifiers' metrics.
"""
