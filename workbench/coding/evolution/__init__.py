"""Suites that grow harder by rounds (EvolveCoder), and what goes before: problems written anew.

growing, replies, representatives: steps without I/O. evolving: rounds. refining: problems as functions.
running: an evolution from the command line. evolved: what came of it. tables: as text.
"""
