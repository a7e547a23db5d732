"""What users see, as it was when it was frozen: `--help`, tables in every form, files, screens.

Moving code changes none of it. Where a change is meant, ``python -m tests.golden`` writes the files anew; their
difference belongs to the commit.
"""
