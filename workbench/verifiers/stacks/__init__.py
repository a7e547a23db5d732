"""Stacks: verifiers in sequence, each called for the deferred items of those before it.

``settling`` defines which of a stage's verdicts decide an item, ``stack`` is the kind ``stack``.
"""
