"""Suites that grow harder by rounds (EvolveCoder), and the rewriting of problems before.

growing, replies, representatives: steps without I/O. evolving: rounds. refining: problems as functions.
running: an evolution from the command line. evolved: results. tables: results as text.
"""
