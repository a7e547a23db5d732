"""The report: its contents and its document.

contents: the metrics. gathering, card: computing them, and the order of the sections.
common, figures, people, testing: the sections. pictures: their plots as files.
"""
