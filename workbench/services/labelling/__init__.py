"""People at work: who labels what, what they say, and what follows from it.

The record
    ledger: the one path by which events enter, and the states that follow.
    transactions: work on many rows, some at a time.

Who labels what
    people: annotators, pauses, and ``assign``.
    assigning: the slots a batch opens, and whom they are meant for.
    ordering: in what order a batch comes. planning, plan_text: how many labels are still missing.
    serving: the next item of a person, with checks and repeats mixed in.
    checks: items whose answer is known.

One person
    annotating: a session of claims, answers, undo. answers: what an answer must have.
    cards: the final answers on the card. suggesting: the answer type that is suggested.
    tokens: links and logins of people who work in a browser.

Conflicts
    adjudicating: one at a time. conflict_classes: many of one kind at once.
    rulings: what both show of a conflict and store of a decision.

The coordinator
    coordinating: reopen, exclude, take in again. excluded: what is out, and what may belong out.
    guidelines: their versions. history: who did what when.
    agreement: how far people agree.

In and out
    labels, label_export: label files. own_labels: what everybody says, beside an item in an export.
    bundling: a person's items in a database of their own.
    merging: events of other databases join those here. incoming: what of another database can be taken.
"""
