"""Frozen outputs for users: `--help`, tables in every form, files, verdicts, messages, screens.

Refactoring must not change them. After an intended change run ``python -m tests.golden GROUP`` and commit the files
it writes.
"""
