"""Code: problems whose solutions are executed; what their tests are worth, and how they grow harder.

A problem is a question and a solution a completion: what is said of items elsewhere holds of them too.

problems: their list, outcomes of every solution, and where programs run. matrix: solutions against tests.
outcome_lines: a line a test of a solution.
apart: tests that count for nobody. ranking: how well verifiers rank and score.
synthesis: tests and solutions written by models. templates, checking: prompts of a user's own for it.
evolution: suites that grow harder by rounds. duplicates: problems that say the same. formats: files of figures.
reporting: what the report says of all that.
options: what several verbs are asked for. records, store: nouns and SQL.
"""
