"""A verifier as a reward server.

`server`: its start and end. `gate`: who is let through. `routes`: the shapes of requests and answers. `refusing`: what
is said to the others. `metrics`: figures for Prometheus.
"""
