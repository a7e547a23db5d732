"""Stacks: verifiers in sequence, each called for the items that the earlier ones deferred.

stack: the kind ``stack``, and the rules by which a stage's verdicts decide an item.
"""
