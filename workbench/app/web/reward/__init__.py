"""A verifier as a reward server.

server: its start and end, and the shapes of requests and answers. gate: access control, and refusals.

metrics: metrics for Prometheus. processes: one server in several.
"""
