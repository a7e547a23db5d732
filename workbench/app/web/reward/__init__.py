"""A verifier as a reward server.

server: its start and end. gate: who is let through, and what is said to the others. routes: the shapes of requests and
answers. metrics: figures for Prometheus.
"""
