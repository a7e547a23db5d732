"""Reward models: one number for each completion, from a server (served) or from local processes (local).

A raw score has no meaning by itself; it becomes a verdict only if a threshold is set.
"""
