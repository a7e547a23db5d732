"""Measures verifiers against gold and against each other: metrics, the items behind them, and tables.

Counts
    columns, column_memory: verdicts and gold as arrays.
    judged: the runs that are compared with gold.
Accuracy
    accuracy: the accuracy report. entries: its rows. notes: caveats to read before quoting it.
    accuracy_items: the items behind a cell. accuracy_tables: the report as tables and sentences, in every format.
Code
    testing: pass@1, ranked solutions, tests that all or no solutions pass.
Comparing and combining verifiers
    comparing, comparing_tables: two verifiers. family: several verifiers. selecting: best of n.
    stacking: verifiers as stages in sequence.
    estimating: accuracy from few labels. downstream: models trained with verifiers. downstream_scores: their scores,
        from files or completions.
Scores and bias
    scores: quality of scores. calibrating: scores as probabilities. validity: bias checks. studies: sweeps and probes.
    pairwise: preferences between two completions. costs: cost of verdicts.
What if
    what_if: verdicts that other options would change, in sentences and tables.
Next steps
    planning: missing labels and their order. suggesting: suggested answer types. briefing: a project's counts, and
        its open tasks and problems, in sentences.
For readers
    browsing: items, and the items of pairs of annotators. reviewing: disagreements. paper, report: documents.
    records: data classes; the classes of metrics are in `statistics.records`. store: the SQL.
"""
