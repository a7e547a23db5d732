"""Reward models: one number a completion, on a server (served) or in this machine's own processes (local).

A raw score says nothing by itself; a verdict comes of it only where a threshold is set.
"""
