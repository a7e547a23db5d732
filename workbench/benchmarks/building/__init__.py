"""Builds, stores and compares benchmarks.

picks, balanced, hard, random: one a kind of benchmark. candidates: the items to choose from, and their gold.
freezing: storing any benchmark, and checking it. comparing: frozen benchmarks listed, described, compared.
"""
