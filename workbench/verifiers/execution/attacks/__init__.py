"""Attacks on the sandbox as data, and the test of ourselves that runs them inside it.

attack: what is tried, and what is set up for it to reach for. harness: the process that is attacked. watching: what
came.

They harm nothing: what they write, read and connect to is made for them by the test, and they end only what it started.
"""
