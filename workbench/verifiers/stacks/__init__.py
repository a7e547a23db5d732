"""Stacks: verifiers in sequence, each called for the items that the earlier ones deferred.

``settling`` defines which of a stage's verdicts decide an item, ``stack`` is the kind ``stack``.
"""
