"""Reward models: one number a completion, on a server (served) or in this machine's own processes (local).

A raw score has no meaning by itself; it becomes a verdict only if a threshold is set.
"""
