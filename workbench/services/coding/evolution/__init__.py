"""Suites of tests that grow harder by rounds (EvolveCoder), and what goes before.

Before
    duplicates: problems that say the same.
    refining: problems of standard input, written anew with a function to write.

Rounds
    evolving: every problem through all steps. running: that with real models and a real sandbox, and its files.
    representing: which solutions a model would be shown.

What has come of it
    evolved: reports, single problems, lines for reinforcement learning. tables: reports as tables and plots.
    origins: where the tests of a suite come from.
"""
