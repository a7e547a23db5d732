"""Test suites that grow harder by rounds (EvolveCoder), and the rewriting of problems for that.

growing, replies, representatives: steps without I/O. evolving: rounds. refining: problems as functions.
running: runs an evolution for the command line. evolved: results. tables: results as text.
"""
