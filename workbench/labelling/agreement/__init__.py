"""How far people agree.

labels: the labels that count, read from a project.
measuring: their figures, or those of ratings from a file, as a report.
rows: the report's rows for pairs of people and for each person.
text: the report for a terminal.
pair_items: the items behind a pair's row.
"""
