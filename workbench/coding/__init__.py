"""Code: problems whose solutions are executed, the quality of their tests, and test suites that grow harder.

A problem is a question and a solution a completion: everything about items applies to them, too.

problems: the list of problems, outcomes of every solution, and sandboxes. matrix: solutions against tests.
outcome_lines: one line for each test of a solution.
apart: excluded tests. ranking: how well verifiers rank and score.
synthesis: tests and solutions written by models. templates, checking: custom prompts for these models.
evolution: suites that grow harder by rounds. duplicates: near-duplicate problems. formats: input files.
reporting: the report's sections on code.
options: options that several commands share. records, store: records and SQL.
"""
