"""Builds, stores and compares benchmarks.

picks, balanced, hard, random: one kind of benchmark each. candidates: the items to choose from, and their gold.
freezing: stores any benchmark, and checks it. comparing: lists, describes and compares frozen benchmarks.
"""
