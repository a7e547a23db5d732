"""Attacks on the sandbox as data, and the self-test that runs them inside it.

attack: programs, and the targets set up for them. harness: the process that is attacked. watching: results.

The attacks do no harm: the test creates what they write, read and connect to, and they end only processes that it
started.
"""
