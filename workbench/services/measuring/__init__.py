"""Verifiers against gold, and against each other: figures, the items behind them, and their texts.

A figure is made in three steps: a verb here reads columns and hands arrays to ``analysis``, a record of ``model``
comes back, and a module named like the verb makes tables and text of it.

What everything is counted from
    columns: the items and what verifiers said of them, as arrays; the one source of every figure.
    column_memory, column_tables, column_check: how they are kept, read and checked.
    judged: which runs are meant, and their verdicts beside gold. model_names: when two models are one.
    counting: the line that says how figures were counted. table_files: tables in every format, and files of them.

Accuracy
    accuracy: ``accuracy``, the one entry. entries: whose rows there are. cells: deltas and tests of groups.
    refining: bootstrapped intervals. transferring: at another prevalence. notes: what to know before quoting.
    accuracy_items: the items behind a cell. tables: the report in every format.
    selected_by: judges that chose the data.

Verifiers against each other
    comparing: two of them. family: several, each pair tested. joint_errors: who errs with whom.
    comparing_text, comparing_tables, family_tables, error_tables: their tables and sentences, of comparing_cells.
    comparing_files: the same in every format.

Verifiers together
    combining: votes, on the items of voting. selecting: the best of n. estimating: accuracy from few labels.
    downstream: what models trained with them score.
    combining_text, selecting_text, estimating_text, downstream_text: the tables and text of each.
    combined, combined_words, combined_files: all four as rows with a sentence each, and as files.

Bias and validity
    validity: every check. validity_texts: the form of completions. validity_words, validity_text: sentences.

Scores
    scores: beside gold. correlating, thresholds, pairing: what they are worth. scores_text: as text.
"""
