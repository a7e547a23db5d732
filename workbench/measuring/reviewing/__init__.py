"""Disagreements: the queues of items worth a review, the reviewers' decisions, and their effects.

queues: ``queue``, the entry point. kinds: finds the items of each queue, with reasons. asked: records that all queues
share. triage: assigns causes to errors case by case, and summarises them. differences: how two final answers differ.
deciding: confirms gold, sends items back, marks errors, retracts decisions; counts of errors, review files.
"""
