"""What figures are reported in, where they are no statistics: paper tables, reviews, validity, data cards, curation.

paper, review, triage, validity, card, curation: one each.
"""
