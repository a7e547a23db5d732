"""Verifiers against gold, and against each other: figures, the items behind them, and their tables.

What everything is counted from
    columns, column_tables, column_reading: what verifiers said of items, as arrays.
    judged: which runs are meant, beside gold.
Accuracy
    accuracy: the one entry. entries: whose rows there are. notes: what to know before quoting.
    accuracy_items: the items behind a cell. accuracy_tables: the report in every format. conclusions: in sentences.
Code
    testing: pass@1, solutions in order, tests that all or none pass.
Verifiers against each other, and together
    comparing, comparing_tables: two. family: several. selecting: the best of n.
    stacking, stack_choosing, stack_tables: one behind the other.
    estimating: from few labels. combined: these and downstream as tables and sentences.
    downstream: models trained with them. downstream_lines: their scores as files. trained: measured by completions.
    training_steps: scores by step. watching, watching_tables: what a verifier accepts while it rewards.
Scores and bias
    scores: what scores are worth. calibrating: scores as chances. validity: what verdicts follow besides correctness.
    studies: sweeps and duels. pairwise: which of two completions. costs: what verdicts take. curves: it drawn.
What if
    what_if: verdicts that other options would change. what_if_tables: them as sentences and tables.
What is next
    planning: labels still missing, and which first. suggesting: suggested types.
    counting: a project's counts. briefing: what is open, a sentence each.
For the eye
    browsing: items, and those of pairs of people. reviewing: disagreements. paper, report: for readers.
    records: nouns; those of figures are in `statistics.records`. store: the SQL.
"""
