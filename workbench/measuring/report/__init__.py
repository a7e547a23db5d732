"""The report: its contents and its document.

contents: the report as data. gathering, card: computing this data, and the order of the sections. common, figures,
people: the sections. pictures: the plots as files.
"""
