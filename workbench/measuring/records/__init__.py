"""What figures are reported in, where they are no statistics: paper tables, reviews, validity, data cards, curation.

paper, review, validity, card, curation: one each.
"""
