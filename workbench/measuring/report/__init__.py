"""The report: everything it says, and the page it says it on.

contents: the figures. gathering, card: where they are counted, and the order of the sections.
common, figures, people, testing: the sections. pictures: their plots as files.
"""
