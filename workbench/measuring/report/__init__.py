"""The report: everything it says, and the page it says it on.

contents: the figures. gathering, scoring, card: where they are counted. page: the order of its sections.
common, figures, people: the sections.
"""
