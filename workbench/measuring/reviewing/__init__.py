"""Disagreements: the queues of items worth a review, the reviewers' decisions, and their effects.

queues: ``queue``, the entry point. kinds: the members of each queue, and why. asked: the frame that they share.
triage: causes case by case, and the paragraph made of them. differences: how two final answers differ.
deciding: confirm, send back, mark an error, retract; decisions in force, counted errors, review files.
"""
