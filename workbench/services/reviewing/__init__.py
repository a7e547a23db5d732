"""Disagreements: the queues of items worth a look, what reviewers decide of them, and what follows.

The queues
    queues: ``queue``, the one entry: ids in order, rows a page at a time.
    by_votes, by_label, by_repetition, by_people: what belongs to each queue, and why.
    asked, wording: the frame they share, and who says what in plain words.

What is decided
    deciding: ``confirm``, ``send_back``, ``mark_error``, ``take_back``.
    decided: ``reviews_of`` an item, ``standing_reviews``, and ``error_counts`` of verifiers.
    reviewed: the items with a decision. error_tables: counted errors as tables.
    naming: items by the ids people know. exchange: review files.
"""
