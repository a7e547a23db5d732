"""People at work: who labels what, what they say, and what follows from it.

The record
    ledger: the one path by which events enter, the states that follow, and who did what when.
Who labels what
    people: annotators, pauses, ``assign``. assigning: the slots a batch opens, and in what order they come.
    serving: the next item of a person, with checks and repeats mixed in. checks: items whose answer is known.
One person
    annotating: a session of claims, answers, undo. answers: what an answer must have. tokens: links and logins.
    waiting: what waits for them, a sentence each. forecasting: when the last label may be there.
Conflicts
    adjudicating: one at a time. conflict_classes: many of one kind at once. rulings: what both show and store.
The coordinator
    coordinating: reopen, exclude, take in again, answer flags. excluded: what is out, and what may belong out.
    guidelines: their versions. agreement: how far people agree.
In and out
    labels, label_export: label files. bundling: a person's items in a database of their own.
    merging: events of other databases join those here. incoming, believing: what of them can be taken.
    records: nouns of checks and plans. store: the SQL.
"""
