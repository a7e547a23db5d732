"""Stacks: verifiers one behind the other, each asked for what those before it leave.

``settling`` says what of a stage's verdicts settles an item, ``stack`` is the kind ``stack``.
"""
