"""A verifier as a reward server.

server: its start and end, and the shapes of requests and answers. gate: who is let through, and what is said to the
others. metrics: figures for Prometheus. processes: one server in several.
"""
