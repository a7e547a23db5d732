"""Annotation: assignment, labels, adjudication, and exchange of labels.

The record
    ledger: the one path by which events enter, the states derived from them, and the history.
Assignment
    people: annotators, pauses, ``assign``. assigning: the slots that a batch opens, and their order.
    serving: the next item of an annotator, with checks and repeats mixed in. checks: items with a known answer.
One annotator
    annotating: a session of claims, answers, undo. answers: validation of an answer. tokens: links and logins. waiting:
    an annotator's inbox, in sentences. forecasting: when the last label can be expected.
Conflicts
    adjudicating: one conflict at a time. conflict_classes: many conflicts of one kind at once. rulings: records of
    decisions.
The coordinator
    coordinating: reopen, exclude, include again, answer flags. excluded: excluded items, and candidates.
    guidelines: versions of the guidelines. agreement: inter-annotator agreement.
Exchange
    labels, label_export: label files. bundling: an annotator's items in a separate database. merging: adds the events
    of other databases. incoming, believing: which of these events are trusted.
    store: the SQL.
"""
