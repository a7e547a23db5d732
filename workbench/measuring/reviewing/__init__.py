"""Disagreements: the queues of items worth a look, what reviewers decide of them, and what follows.

queues: ``queue``, the one entry. kinds: what belongs to each, and why. asked: the frame they share, in words.
triage: causes case by case, and the paragraph they make. differences: what differs between two final answers.
deciding: confirm, send back, mark an error, take back; what stands decided, counted errors, review files.
"""
