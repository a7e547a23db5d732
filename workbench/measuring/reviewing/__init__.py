"""Disagreements: the queues of items worth a review, the reviewers' decisions, and their effects.

queues: ``queue``, the entry point. kinds: the members of each queue, with reasons. asked: records that all queues
share. triage: causes case by case, and a paragraph on them. differences: how two final answers differ. deciding:
confirm, send back, mark an error, retract; decisions in force, counted errors, review files.
"""
