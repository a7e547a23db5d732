"""Records of reports other than statistics: paper tables, reviews, validity, data cards, curation, tests, stacks,
trainings.

paper, review, triage, validity, card, curation, testing, stack, watching: one subject each.
"""
