"""What users see, as it was when it was frozen: `--help`, tables in every form, files, verdicts, messages, screens.

Moving code changes none of it. Where a change is meant, ``python -m tests.golden FOLDER`` freezes it anew; what it
writes belongs to the commit.
"""
